import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Directory } from "../../admission/directory.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { attributesField } from "../../domain/attributes.ts";
import { Refusal } from "../../domain/refusal.ts";
import { threadUid } from "../../domain/thread-uid.ts";
import type { HttpRequest } from "../../listener.ts";
import { bodyOf } from "../body.ts";
import { documentedLines, BODY_REFUSALS, serverRefusals } from "../reference/shared-documentation.ts";
import {
  attachmentList,
  attributesMap,
  callerId,
  channelSlug,
  clientMessageId,
  contextMap,
  localeTag,
  messageText,
  mustFit,
  mustSaySomething,
  displayNameText,
  mustTakeImages,
} from "../fields.ts";
import { serverLine } from "../../protocol/lines.ts";
import { streamAnswer } from "../stream/stream-answer.ts";
import type { Documentation, Route } from "../route.ts";

const bodySchema = z.object({
  threadId: callerId.describe("The caller's own conversation id, unique per channel and user"),
  userId: callerId.describe("The user's id in the caller's system, within the channel"),
  text: messageText,
  channel: channelSlug.default("cli").describe("Channel slug"),
  clientMessageId: clientMessageId
    .optional()
    .describe("The caller's own id of this message: a repeat gets its run's stream, and says nothing new"),
  displayName: displayNameText.optional(),
  attachments: attachmentList
    .optional()
    .describe("Images, where the channel's agent.images allows them, together within SERVER_MAX_BODY_BYTES"),
  attributes: attributesMap.optional(),
  context: contextMap
    .optional()
    .describe(
      "Flat map about the visitor, for this message; its JSON is no longer than WIDGET_MAX_TEXT_CHARS",
    ),
  locale: localeTag.optional().describe("The visitor's language, for this message, for example de-CH"),
});

const documentation: Documentation = {
  summary: "Send a user's message and stream the reply",
  description: "User and thread are created on first use. A message while a run is active waits its turn.",
  credential: "transportKey",
  params: {},
  query: {},
  headers: {
    "idempotency-key": {
      description: "In place of clientMessageId, as it stands; both, and different: 422",
      schema: z.string().min(1).max(128),
      required: false,
      example: "order-7-question-1",
    },
  },
  body: {
    schema: bodySchema,
    example: { threadId: "chat-1", userId: "ada", text: "Hello", channel: "cli", displayName: "Ada" },
  },
  answers: {
    200: documentedLines("One JSON object per line; the last one is a done or error line", serverLine, {
      type: "delta",
      text: "Hello, Ada.",
    }),
    ...serverRefusals(BODY_REFUSALS, {
      "not-found": "Unknown channel",
      "rate-limited": "Too many messages wait in this thread",
    }),
  },
};

/** POST /v1/messages: a transport sends a user's message, and reads the reply as a stream. */
export function serverMessagesRoute(dependencies: {
  admission: Pick<ServerAdmission, "transport" | "speaker">;
  threads: Pick<Threads, "load" | "say">;
  config: Pick<Config, "serverMaxBodyBytes" | "limits">;
  directory: Pick<Directory, "channel">;
}): Route {
  const { admission, threads, config, directory } = dependencies;
  return {
    method: "POST",
    path: "/v1/messages",
    api: "server",
    documentation,
    async handle(incoming) {
      const { request, traceparent, note } = incoming;
      admission.transport(request);
      const shape = { schema: bodySchema, check: mustSaySomething };
      const body = await bodyOf(request, config.serverMaxBodyBytes, shape);
      const {
        channel: slug,
        userId: externalId,
        threadId,
        text,
        context = null,
        attributes,
        attachments,
      } = body;
      if (context) mustFit(context, config.limits.maxTextChars);
      if (attachments) mustTakeImages(directory.channel(slug), attachments);
      const messageId = messageIdOf(request, body.clientMessageId);
      const uid = threadUid(slug, externalId, threadId);

      // Loaded in the same tick as the admission, so that both take one round trip. Its error is handled where it is
      // awaited.
      const early = threads.load(uid, "to-say");
      early.catch(() => {});
      const displayName = body.displayName ?? null;
      const thread = { name: threadId, newUid: uid };
      const admitted = await admission.speaker(incoming, {
        slug,
        externalId,
        displayName,
        attributes,
        thread,
      });

      // The uid of a thread from a merge or from the widget is not the one computed above.
      const trueUid = admitted.threadUid ?? uid;
      note({ uid: trueUid });
      const reply = await threads.say(
        {
          uid: trueUid,
          slug,
          api: "server",
          userId: admitted.user.userId,
          speaker: {
            displayName: admitted.user.displayName,
            page: null,
            customerContext: context,
            ...(body.locale === undefined ? {} : { locale: body.locale }),
            ...attributesField(admitted.user.attributes),
          },
          text,
          attachments,
          clientMessageId: messageId,
          traceparent,
        },
        trueUid === uid ? early : undefined,
      );
      note({ runId: reply.runId });
      return streamAnswer(reply, request);
    },
  };
}

/** clientMessageId, or the header Idempotency-Key instead. Refusal("invalid") if both are sent and differ. */
function messageIdOf({ headers }: HttpRequest, clientMessageId: string | undefined): string | null {
  const key = headers.get("idempotency-key");
  if (key === undefined) return clientMessageId ?? null;
  const isKey = /^[\x20-\x7e]{1,128}$/.test(key);
  if (!isKey || (clientMessageId !== undefined && clientMessageId !== key)) {
    throw new Refusal(
      "invalid",
      "Idempotency-Key is 1 to 128 printable ASCII characters, and no other than clientMessageId",
    );
  }
  return key;
}
