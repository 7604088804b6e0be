import type { Directory } from "../../admission/directory.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { threadUid } from "../../domain/threads/thread-uid.ts";
import type { Threads } from "../../threads/threads.ts";
import { endpoint } from "../endpoint.ts";
import { callerId, channelSlug } from "../fields.ts";
import {
  ANSWERING_FILE,
  answerFile,
  fileNameField,
  takeFile,
  takingFile,
  TAKING_REFUSALS,
} from "../files/file-endpoint.ts";

/** POST /v1/threads/:threadId/files, GET …/files/:fileId: the files of a transport's user. */
export function serverFiles(dependencies: {
  admission: Pick<ServerAdmission, "speaker">;
  threads: Pick<Threads, "files">;
  directory: Pick<Directory, "channel">;
  config: Pick<Config, "files">;
}) {
  const { admission, threads, config } = dependencies;
  const taking = takingFile(config.files.maxBytes);
  return [
    endpoint({
      ...taking,
      path: "/v1/threads/:threadId/files",
      credential: "transportKey",
      description: `${taking.description} User and thread are created on first use.`,
      query: {
        userId: {
          description: "The user's id in the caller's system",
          schema: callerId,
          required: true,
          example: "ada",
        },
        channel: {
          description: "Channel slug",
          schema: channelSlug.default("cli"),
          shown: channelSlug,
          example: "cli",
        },
        ...fileNameField,
      },
      refusals: {
        ...TAKING_REFUSALS,
        forbidden:
          "The user is not allowed: blocked, not whitelisted in whitelist mode, or the channel is disabled",
      },
      async handle(asked) {
        const { query, params, body, note } = asked;
        const { userId: externalId, channel: slug } = query;
        const threadId = callerId.safeParse(params.threadId).data;
        if (threadId === undefined) throw new Refusal("invalid", "The path holds no threadId");
        const newUid = threadUid(slug, externalId, threadId);
        const thread = { name: threadId, newUid };
        const admitted = await admission.speaker(asked, { slug, externalId, displayName: null, thread });
        const uid = admitted.threadUid ?? newUid;
        note({ uid });
        return takeFile(dependencies, { uid, slug }, body, query.name);
      },
    }),

    endpoint({
      ...ANSWERING_FILE,
      path: "/v1/threads/:threadId/files/:fileId",
      credential: "transportKey",
      finds: "thread",
      handle: async ({ thread, params }) => answerFile(threads, thread.uid, params.fileId),
    }),
  ];
}
