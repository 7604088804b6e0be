import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Clock } from "../../clock.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import { threadUid } from "../../domain/thread-uid.ts";
import { mayTalk } from "../../domain/user.ts";
import type { Store } from "../../store.ts";
import { lines, OF_A_BODY, serverRefusals } from "../reference/documented.ts";
import { callerId, channelSlug, messageText } from "../fields.ts";
import { serverLine } from "../reference/line-schemas.ts";
import { streamAnswer } from "../stream/lines.ts";
import type { Route } from "../route.ts";
import { traceparentOf } from "../traceparent.ts";
import type { Callers } from "./callers.ts";

const body = z.object({
  threadId: callerId.describe("The caller's own conversation id, unique per channel and user"),
  userId: callerId.describe("The user's id in the caller's system, within the channel"),
  text: messageText,
  channel: channelSlug.default("cli").describe("Channel slug"),
  displayName: z.string().optional().describe("Stored with the user; a later one replaces it"),
});

/** POST /v1/messages: a transport sends a user's message, and reads the reply as a stream. */
export function messagesRoute(parts: {
  callers: Callers;
  store: Pick<Store, "admitUser">;
  threads: Pick<Threads, "load" | "say">;
  clock: Clock;
}): Route {
  const { callers, store, threads, clock } = parts;
  return {
    method: "POST",
    path: "/v1/messages",
    api: "server",
    documentation: {
      summary: "Send a user's message and stream the reply",
      description:
        "User and thread are created on first use. A message while a run is active waits its turn.",
      credential: "transportKey",
      params: {},
      query: {},
      headers: {},
      body: {
        schema: body,
        example: { threadId: "chat-1", userId: "ada", text: "Hello", channel: "cli", displayName: "Ada" },
      },
      answers: {
        200: lines("One JSON object per line; the last one is a done or error line", serverLine, {
          type: "delta",
          text: "Hello, Ada.",
        }),
        ...serverRefusals(OF_A_BODY, {
          "not-found": "Unknown channel",
          "rate-limited": "Too many messages wait in this thread",
        }),
      },
    },
    async handle({ request, note }) {
      const said = await callers.transport(request, { schema: body });
      const { channel: slug, userId: externalId, threadId, text, displayName } = said;
      const uid = threadUid(slug, externalId, threadId);
      note({ slug });

      // In the tick of the admission, so that both are one round trip. Whoever needs the record meets its error.
      const early = threads.load(uid, "active");
      early.catch(() => {});
      const atMs = clock.now();
      const admission = await store.admitUser({
        slug,
        externalId,
        displayName: displayName ?? null,
        newUserId: newId(),
        thread: { name: threadId, newUid: uid },
        creates: true,
        atMs,
      });
      if (!admission) throw new Refusal("not-found", "Unknown channel");
      const { user, channel } = admission;
      note({ userId: user.userId });
      if (!mayTalk(channel, user)) throw new Refusal("forbidden");

      // A thread that came by a merge, or from the widget, has a uid of its own.
      const trueUid = admission.threadUid ?? uid;
      note({ uid: trueUid });
      const reply = await threads.say(
        {
          uid: trueUid,
          slug,
          api: "server",
          userId: user.userId,
          speaker: { displayName: user.displayName, page: null, customerContext: null },
          text,
          traceparent: traceparentOf(request),
        },
        trueUid === uid ? early : undefined,
      );
      note({ runId: reply.runId });
      return streamAnswer(reply, request);
    },
  };
}
