import { z } from "zod";
import type { Clock } from "../../clock.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import { mayTalk } from "../../domain/user.ts";
import type { Store } from "../../store.ts";
import { json, serverRefusals } from "../reference/documented.ts";
import { callerId, channelSlug } from "../fields.ts";
import { jsonAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import type { Callers } from "./callers.ts";

const body = z.object({
  channel: channelSlug,
  externalUserId: callerId,
  displayName: z.string().optional().describe("Stored with the user; a later one replaces it"),
});

/** POST /v1/access: may this sender talk to the bot? `allowed: false` is where a message would be refused with 403. */
export function accessRoute(parts: {
  callers: Callers;
  store: Pick<Store, "admitUser">;
  clock: Clock;
}): Route {
  const { callers, store, clock } = parts;
  return {
    method: "POST",
    path: "/v1/access",
    api: "server",
    documentation: {
      summary: "Ask whether a sender may talk",
      description: "The user is created on first use.",
      credential: "transportKey",
      params: {},
      query: {},
      headers: {},
      body: { schema: body, example: { channel: "cli", externalUserId: "ada", displayName: "Ada" } },
      answers: {
        200: json("The answer", z.object({ allowed: z.boolean(), userId: z.string() }), {
          allowed: true,
          userId: "8Zk3x0T5RrOeS3o1m1yq6g",
        }),
        ...serverRefusals(
          ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
          { "not-found": "Unknown channel" },
        ),
      },
    },
    async handle({ request, note }) {
      const said = await callers.transport(request, { schema: body });
      note({ slug: said.channel });
      const atMs = clock.now();
      const admission = await store.admitUser({
        slug: said.channel,
        externalId: said.externalUserId,
        displayName: said.displayName ?? null,
        newUserId: newId(),
        thread: null,
        creates: true,
        atMs,
      });
      if (!admission) throw new Refusal("not-found", "Unknown channel");
      const { user, channel } = admission;
      note({ userId: user.userId });
      return jsonAnswer(200, { allowed: mayTalk(channel, user), userId: user.userId });
    },
  };
}
