import { z } from "zod";
import type { Visitors } from "../../actors/visitors.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import { readVisitorToken } from "../../domain/visitor-token.ts";
import type { Store } from "../../store.ts";
import { json, originHeader, widgetRefusals } from "../reference/documented.ts";
import { jsonAnswer } from "../route.ts";
import type { Asked, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { noBody } from "./reading.ts";

/** POST /v1/widget/threads: a new conversation. Its id is its uid. */
export function threadsRoute(parts: {
  gate: Gate;
  store: Pick<Store, "addThread">;
  visitors: Visitors;
  clock: Clock;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, store, visitors, clock, config } = parts;

  /** The user of the token now: after a merge, the account. */
  async function presentUserId(asked: Asked): Promise<string> {
    const claim = readVisitorToken(asked.request.headers.get("x-visitor-token") ?? "");
    const admission = claim && (await visitors.admit(claim, null));
    if (!admission) throw new Refusal("unauthorized");
    return admission.user.userId;
  }

  return {
    method: "POST",
    path: "/v1/widget/threads",
    api: "widget",
    documentation: {
      summary: "Start a conversation",
      description: "Answers the id of a new thread of this visitor. No body.",
      credential: "visitorToken",
      params: {},
      query: {},
      headers: originHeader,
      body: null,
      answers: {
        201: json("The new thread", z.object({ threadId: z.string() }), {
          threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
        }),
        ...widgetRefusals(["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"]),
      },
    },
    async handle(asked) {
      const { slug, user } = await gate.admitVisitor(asked, {
        counts: ["threads-by-token"],
        read: noBody(config.limits.maxBodyBytes),
      });
      const uid = newId();
      const thread = { slug, threadId: uid, uid, atMs: clock.now() };
      const added = await store.addThread({ ...thread, userId: user.userId });
      // Merged between the two calls: the token is the account's now. An account is never merged away.
      if (!added && !(await store.addThread({ ...thread, userId: await presentUserId(asked) }))) {
        throw new Refusal("unavailable", "", 1);
      }
      asked.note({ uid });
      return jsonAnswer(201, { threadId: uid });
    },
  };
}
