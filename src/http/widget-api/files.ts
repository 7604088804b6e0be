import type { Directory } from "../../admission/directory.ts";
import type { Config } from "../../config.ts";
import { FILE_TYPES } from "../../domain/threads/files.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Threads } from "../../threads/threads.ts";
import { endpoint } from "../endpoint.ts";
import { mustTakeFiles } from "../fields.ts";
import { fileAnswer, fileBody, shownName } from "../file-body.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import { EXAMPLE_FILE, fileDocumentation, fileField, FILE_QUERY, sentFile } from "../sent-file.ts";

/** POST /v1/widget/threads/:id/files, GET …/files/:fileId: a visitor's files, before and after the message that names them. */
export function widgetFiles({
  threads,
  directory,
  config,
}: {
  threads: Pick<Threads, "files">;
  directory: Pick<Directory, "channel">;
  config: Pick<Config, "files">;
}) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/files",
      credential: "visitorToken",
      rate: "files",
      finds: "thread",
      summary: "Send a file for a message",
      description: `A form with one file, or its bytes as the body: ${FILE_TYPES.join(", ")}, by its content. A message of this thread then names it in \`files\`, within a day.`,
      query: FILE_QUERY,
      body: fileBody(config.files.maxBytes),
      answers: { 201: documentedJson("The file", sentFile, EXAMPLE_FILE) },
      refusals: {
        "too-large": "The file is longer than FILES_MAX_BYTES",
        invalid: "It is empty or of another type, or the channel's agent.files is false",
      },
      async handle({ caller: { slug }, thread: { uid }, body, query }) {
        mustTakeFiles(directory.channel(slug));
        const name = shownName(query.name ?? body.name);
        return jsonAnswer(201, await threads.files.keep({ uid, slug, name, bytes: body.bytes }));
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/widget/threads/:id/files/:fileId",
      credential: "visitorToken",
      rate: "reads",
      finds: "thread",
      summary: "Fetch a file of a message",
      description: "As it was sent; for a browser it is a download, never a page.",
      params: fileField,
      answers: { 200: fileDocumentation },
      async handle({ thread: { uid }, params }) {
        const found = await threads.files.get(uid, params.fileId);
        if (!found) throw new Refusal("not-found", "No message of this thread has such a file");
        return fileAnswer(found);
      },
    }),
  ];
}
