import { z } from "zod";
import type { Threads } from "../../threads/threads.ts";
import type { Directory } from "../../admission/directory.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { attributesField } from "../../domain/people/attributes.ts";
import type { User } from "../../domain/people/user.ts";
import type { Speaker } from "../../domain/threads/message.ts";
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
  fileIds,
  localeTag,
  messageText,
  mustFit,
  mustSaySomething,
  mustTakeImages,
  NO_BRANCH,
  repliedItem,
  replacedItem,
  saysSomething,
  stoppedRun,
  textWithFiles,
} from "../fields.ts";
import { serverLine } from "../../protocol/lines.ts";
import { documentedJson, documentedLines } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { streamAnswer } from "../stream/stream-answer.ts";

const messageSchema = z.object({
  threadId: callerId.describe("The caller's own conversation id, unique per channel and user"),
  userId: callerId.describe("The user's id in the caller's system, within the channel"),
  text: textWithFiles.describe("Empty only with files"),
  channel: channelSlug.default("cli").describe("Channel slug"),
  clientMessageId: clientMessageId
    .optional()
    .describe("The caller's own id of this message: a repeat gets its run's stream, and says nothing new"),
  displayName: displayNameText.optional(),
  attachments: attachmentList
    .optional()
    .describe("Images, where the channel's agent.images allows them, together within SERVER_MAX_BODY_BYTES"),
  files: fileIds,
  attributes: attributesMap.optional(),
  context: contextMap
    .optional()
    .describe(
      "Flat map about the visitor, for this message; its JSON is no longer than WIDGET_MAX_TEXT_CHARS",
    ),
  locale: localeTag.optional().describe("The visitor's language, for this message, for example de-CH"),
  replaces: replacedItem,
});

const againSchema = messageSchema
  .pick({ userId: true, channel: true, clientMessageId: true, context: true, locale: true })
  .extend({ messageId: repliedItem });

const cancelSchema = z.object({
  threadId: callerId,
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
  runId: stoppedRun,
});

const spokenSchema = messageSchema
  .pick({ userId: true, channel: true, clientMessageId: true, attributes: true, context: true, locale: true })
  .extend({
    text: messageText.optional().describe("What the assistant says to the user, who has not asked"),
    instruction: messageText
      .optional()
      .describe("In place of text: what the model is to write to the user about. The user never sees it"),
  })
  .refine(
    ({ text, instruction }) => (text === undefined) !== (instruction === undefined),
    "text or instruction",
  );

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
  admission: Pick<ServerAdmission, "speaker" | "threadOf" | "knownUser">;
  threads: Pick<Threads, "load" | "say" | "answerAgain" | "cancel" | "speak" | "instruct">;
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
        schema: saysSomething(messageSchema),
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
        "not-found": "Unknown channel, or `replaces` names no user's message in the branch that is shown",
        "rate-limited": "Too many messages wait in this thread",
      },
      async handle(asked) {
        const { request, traceparent, note, body } = asked;
        const { channel: slug, userId: externalId, threadId, text, attributes, attachments } = body;
        const { context, displayName = null } = body;
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
            speaker: speakerOf(admitted.user, body),
            text,
            attachments,
            files: body.files,
            replaces: body.replaces,
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
        "The assistant speaks to the user of its own accord: in the history, in feeds, unread in the element, on messengers. With `text` no model is called, and the next run's model is told. With `instruction` the model writes the message, in a run whose stream can be read by its id; the answer comes before that. User and thread are created on first use. While a run goes on it waits for its end: after some seconds 503.",
      headers: IDEMPOTENCY,
      body: {
        schema: spokenSchema,
        example: { userId: "ada", text: "Your parcel has arrived." },
      },
      answers: {
        201: documentedJson(
          "With `text`, the item's id; with `instruction`, the run's",
          z.object({ id: z.string().exactOptional(), runId: z.string().exactOptional() }),
          { id: "3" },
        ),
      },
      refusals: {
        conflict: "With `instruction`: a person has the thread, or is waited for",
        forbidden:
          "The user is not allowed: blocked, not whitelisted in whitelist mode, or the channel is disabled",
      },
      async handle(asked) {
        const { params, body, request, note, traceparent } = asked;
        const { channel: slug, userId: externalId, text, instruction = "", attributes } = body;
        const { context } = body;
        if (context) mustFit(context, config.limits.maxTextChars);
        const threadId = callerId.safeParse(params.threadId).data;
        if (threadId === undefined) throw new Refusal("invalid", "The path holds no threadId");
        const clientMessageId = messageIdOf(request, body.clientMessageId);
        const uid = threadUid(slug, externalId, threadId);
        const admitted = await admission.speaker(asked, {
          slug,
          externalId,
          displayName: null,
          attributes,
          thread: { name: threadId, newUid: uid },
        });
        const trueUid = admitted.threadUid ?? uid;
        note({ uid: trueUid });
        const said = { uid: trueUid, slug, clientMessageId };
        if (text !== undefined) return jsonAnswer(201, { id: await threads.speak({ ...said, text }) });
        const { user } = admitted;
        const runId = await threads.instruct({
          ...said,
          userId: user.userId,
          speaker: speakerOf(user, body),
          instruction,
          traceparent,
        });
        note({ runId });
        return jsonAnswer(201, { runId });
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/threads/:threadId/regenerate",
      credential: "transportKey",
      finds: "speakersThread",
      summary: "Have a message answered once more",
      description:
        "The reply, and what followed it, go into another branch; the message is answered anew, and its stream is the answer. A run that goes on ends as superseded.",
      headers: { "idempotency-key": { ...IDEMPOTENCY["idempotency-key"], example: "order-7-again-1" } },
      body: { schema: againSchema, example: { userId: "ada", messageId: "2" } },
      answers: {
        200: documentedLines("The new reply's stream", serverLine, { type: "delta", text: "It is" }),
      },
      refusals: NO_BRANCH,
      async handle(asked) {
        const { thread, body, request, traceparent, note } = asked;
        const { uid, slug } = thread;
        if (body.context) mustFit(body.context, config.limits.maxTextChars);
        const user = await admission.knownUser(asked, { slug, externalId: body.userId });
        const reply = await threads.answerAgain({
          uid,
          slug,
          api: "server",
          userId: user.userId,
          speaker: speakerOf(user, body),
          messageId: body.messageId,
          clientMessageId: messageIdOf(request, body.clientMessageId),
          traceparent,
        });
        note({ runId: reply.runId });
        return streamAnswer(reply, request);
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

/** What the model is told of a transport's user. */
function speakerOf(
  { displayName, attributes }: Pick<User, "displayName" | "attributes">,
  {
    context = null,
    locale,
  }: { context?: Speaker["customerContext"] | undefined; locale?: string | undefined },
): Speaker {
  return {
    displayName,
    page: null,
    customerContext: context,
    ...(locale === undefined ? {} : { locale }),
    ...attributesField(attributes),
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
