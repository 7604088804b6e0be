import { z } from "zod";
import type { Threads } from "../../threads/threads.ts";
import type { Directory } from "../../admission/directory.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { attributesField } from "../../domain/people/attributes.ts";
import { Refusal } from "../../domain/refusal.ts";
import { threadUid } from "../../domain/threads/thread-uid.ts";
import type { HttpRequest } from "../../listener.ts";
import { endpoint } from "../endpoint.ts";
import {
  attachmentList,
  attributesMap,
  callerId,
  channelSlug,
  clientMessageId,
  contextMap,
  displayNameText,
  localeTag,
  messageText,
  mustFit,
  mustSaySomething,
  mustTakeImages,
  stoppedRun,
} from "../fields.ts";
import { serverLine } from "../../protocol/lines.ts";
import { documentedJson, documentedLines } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { streamAnswer } from "../stream/stream-answer.ts";

const messageSchema = z.object({
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

const cancelSchema = z.object({
  threadId: callerId,
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
  runId: stoppedRun,
});

const spokenSchema = messageSchema.pick({ userId: true, channel: true, clientMessageId: true }).extend({
  text: messageText.describe("What the assistant says to the user, who has not asked"),
});

const IDEMPOTENCY = {
  "idempotency-key": {
    description: "In place of clientMessageId, as it stands; both, and different: 422",
    schema: z.string().min(1).max(128),
    required: false,
    example: "order-7-question-1",
  },
} as const;

/**
 * POST /v1/messages, /v1/messages/cancel: a transport says what its user says, and stops the reply. POST /v1/threads/:threadId/say:
 * the service speaks first.
 */
export function serverMessages({
  admission,
  threads,
  config,
  directory,
}: {
  admission: Pick<ServerAdmission, "speaker" | "threadOf">;
  threads: Pick<Threads, "load" | "say" | "cancel" | "speak">;
  config: Pick<Config, "limits">;
  directory: Pick<Directory, "channel">;
}) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/messages",
      credential: "transportKey",
      summary: "Send a user's message and stream the reply",
      description:
        "User and thread are created on first use. A message while a run is active waits its turn.",
      headers: IDEMPOTENCY,
      body: {
        schema: messageSchema,
        example: { threadId: "chat-1", userId: "ada", text: "Hello", channel: "cli", displayName: "Ada" },
        check: mustSaySomething,
      },
      answers: {
        200: documentedLines("One JSON object per line; the last one is a done or error line", serverLine, {
          type: "delta",
          text: "Hello, Ada.",
        }),
      },
      refusals: {
        forbidden:
          "The user is not allowed: blocked, not whitelisted in whitelist mode, or the channel is disabled",
        "rate-limited": "Too many messages wait in this thread",
      },
      async handle(asked) {
        const { request, traceparent, note, body } = asked;
        const { channel: slug, userId: externalId, threadId, text, attributes, attachments } = body;
        const { context = null, displayName = null } = body;
        if (context) mustFit(context, config.limits.maxTextChars);
        if (attachments) mustTakeImages(directory.channel(slug), attachments);
        const messageId = messageIdOf(request, body.clientMessageId);
        const uid = threadUid(slug, externalId, threadId);

        // Loaded in the same tick as the admission, so that both take one round trip. Its error is handled where it is
        // awaited.
        const early = threads.load(uid, "to-say");
        early.catch(() => {});
        const thread = { name: threadId, newUid: uid };
        const admitted = await admission.speaker(asked, {
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
    }),

    endpoint({
      method: "POST",
      path: "/v1/threads/:threadId/say",
      credential: "transportKey",
      summary: "Speak first",
      description:
        "The assistant says this to the user of its own accord: in the history, in feeds, unread in the element, on messengers. No model is called; the next run's model is told. User and thread are created on first use. While a run goes on it waits for its end: after some seconds 503.",
      headers: IDEMPOTENCY,
      body: {
        schema: spokenSchema,
        example: { userId: "ada", text: "Your parcel has arrived." },
      },
      answers: { 201: documentedJson("The item's id", z.object({ id: z.string() }), { id: "3" }) },
      refusals: {
        forbidden:
          "The user is not allowed: blocked, not whitelisted in whitelist mode, or the channel is disabled",
      },
      async handle(asked) {
        const { params, body, request, note } = asked;
        const { channel: slug, userId: externalId, text } = body;
        const threadId = callerId.safeParse(params.threadId).data;
        if (threadId === undefined) throw new Refusal("invalid", "The path holds no threadId");
        const clientMessageId = messageIdOf(request, body.clientMessageId);
        const uid = threadUid(slug, externalId, threadId);
        const admitted = await admission.speaker(asked, {
          slug,
          externalId,
          displayName: null,
          attributes: undefined,
          thread: { name: threadId, newUid: uid },
        });
        const trueUid = admitted.threadUid ?? uid;
        note({ uid: trueUid });
        return jsonAnswer(201, { id: await threads.speak({ uid: trueUid, slug, text, clientMessageId }) });
      },
    }),

    // Creates nothing, and also stops a blocked user's (contract, Stopping).
    endpoint({
      method: "POST",
      path: "/v1/messages/cancel",
      credential: "transportKey",
      summary: "Stop a user's active run",
      description:
        "204 also where nothing runs, or another run than the named one, and for an unknown thread or user. The open stream ends with an error line of code cancelled.",
      body: { schema: cancelSchema, example: { threadId: "chat-1", userId: "ada", channel: "cli" } },
      answers: { 204: "Nothing runs in the thread now, or not the named run" },
      async handle(asked) {
        const { channel: slug, userId: externalId, threadId, runId = null } = asked.body;
        const uid = await admission.threadOf(asked, { slug, externalId, threadId });
        if (uid !== null) await threads.cancel(uid, runId);
        return emptyAnswer(204);
      },
    }),
  ];
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
