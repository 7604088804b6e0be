import type { Directory } from "../../admission/directory.ts";
import type { Config } from "../../config.ts";
import type { Threads } from "../../threads/threads.ts";
import { endpoint } from "../endpoint.ts";
import {
  ANSWERING_FILE,
  answerFile,
  fileNameField,
  takeFile,
  takingFile,
  TAKING_REFUSALS,
} from "../files/file-endpoint.ts";

/** POST /v1/widget/threads/:id/files, GET …/files/:fileId: a visitor's files, before and after the message that names them. */
export function widgetFiles(dependencies: {
  threads: Pick<Threads, "files">;
  directory: Pick<Directory, "channel">;
  config: Pick<Config, "files">;
}) {
  const { threads, config } = dependencies;
  return [
    endpoint({
      ...takingFile(config.files.maxBytes),
      path: "/v1/widget/threads/:id/files",
      credential: "visitorToken",
      rate: "files",
      finds: "thread",
      query: fileNameField,
      refusals: TAKING_REFUSALS,
      handle: async ({ caller: { slug }, thread: { uid }, body, query }) =>
        takeFile(dependencies, { uid, slug }, body, query.name),
    }),

    endpoint({
      ...ANSWERING_FILE,
      path: "/v1/widget/threads/:id/files/:fileId",
      credential: "visitorToken",
      rate: "reads",
      finds: "thread",
      handle: async ({ thread, params }) => answerFile(threads, thread.uid, params.fileId),
    }),
  ];
}
