import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Clock } from "../../clock.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import { nothing, serverRefusals } from "../reference/documented.ts";
import { callerId, channelSlug } from "../fields.ts";
import { emptyAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import type { Callers } from "./callers.ts";

const body = z.object({
  threadId: callerId,
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
});

/** POST /v1/messages/cancel: stops a user's active run (contract, Stopping). Creates nothing, and also stops a blocked user's. */
export function messagesCancelRoute(parts: {
  callers: Callers;
  store: Pick<Store, "admitUser" | "channel">;
  threads: Pick<Threads, "cancel">;
  clock: Clock;
}): Route {
  const { callers, store, threads, clock } = parts;
  return {
    method: "POST",
    path: "/v1/messages/cancel",
    api: "server",
    documentation: {
      summary: "Stop a user's active run",
      description:
        "204 also where nothing runs, and for an unknown thread or user. The open stream ends with an error line of code cancelled.",
      credential: "transportKey",
      params: {},
      query: {},
      headers: {},
      body: { schema: body, example: { threadId: "chat-1", userId: "ada", channel: "cli" } },
      answers: {
        204: nothing("Nothing runs in the thread now"),
        ...serverRefusals(
          ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
          { "not-found": "Unknown channel" },
        ),
      },
    },
    async handle({ request, note }) {
      const {
        channel: slug,
        userId: externalId,
        threadId,
      } = await callers.transport(request, { schema: body });
      note({ slug });
      const atMs = clock.now();
      const admission = await store.admitUser({
        slug,
        externalId,
        displayName: null,
        newUserId: newId(),
        thread: { name: threadId, newUid: null },
        creates: false,
        atMs,
      });
      if (!admission && !(await store.channel(slug))) throw new Refusal("not-found", "Unknown channel");
      const uid = admission?.threadUid ?? null;
      if (uid !== null) {
        note({ uid });
        await threads.cancel(uid);
      }
      return emptyAnswer(204);
    },
  };
}
