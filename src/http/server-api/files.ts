import type { Directory } from "../../admission/directory.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { FILE_TYPES } from "../../domain/threads/files.ts";
import { Refusal } from "../../domain/refusal.ts";
import { threadUid } from "../../domain/threads/thread-uid.ts";
import type { Threads } from "../../threads/threads.ts";
import { endpoint } from "../endpoint.ts";
import { callerId, channelSlug, mustTakeFiles } from "../fields.ts";
import { fileAnswer, fileBody, shownName } from "../file-body.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import { EXAMPLE_FILE, fileDocumentation, fileField, FILE_QUERY, sentFile } from "../sent-file.ts";

/** POST /v1/threads/:threadId/files, GET …/files/:fileId: the files of a transport's user. */
export function serverFiles({
  admission,
  threads,
  directory,
  config,
}: {
  admission: Pick<ServerAdmission, "speaker">;
  threads: Pick<Threads, "files">;
  directory: Pick<Directory, "channel">;
  config: Pick<Config, "files">;
}) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/threads/:threadId/files",
      credential: "transportKey",
      summary: "Send a file for a message",
      description: `A form with one file, or its bytes as the body: ${FILE_TYPES.join(", ")}, by its content. A message of this thread then names it in \`files\`, within a day. User and thread are created on first use.`,
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
        ...FILE_QUERY,
      },
      body: fileBody(config.files.maxBytes),
      answers: { 201: documentedJson("The file", sentFile, EXAMPLE_FILE) },
      refusals: {
        "too-large": "The file is longer than FILES_MAX_BYTES",
        invalid: "It is empty or of another type, the channel's agent.files is false, or userId is missing",
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
        mustTakeFiles(directory.channel(slug));
        const name = shownName(query.name ?? body.name);
        return jsonAnswer(201, await threads.files.keep({ uid, slug, name, bytes: body.bytes }));
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/threads/:threadId/files/:fileId",
      credential: "transportKey",
      finds: "thread",
      summary: "Fetch a file of a message",
      description: "As it was sent.",
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
