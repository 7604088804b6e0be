import { z } from "zod";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import { json, originHeader, widgetRefusals } from "../reference/documented.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { noBody } from "./reading.ts";

const documentation: Documentation = {
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
};

/** POST /v1/widget/threads: a new conversation. Its id is its uid. */
export function threadsRoute(parts: {
  gate: Gate;
  store: Pick<Store, "addThread">;
  clock: Clock;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, store, clock, config } = parts;
  return {
    method: "POST",
    path: "/v1/widget/threads",
    api: "widget",
    documentation,
    async handle(asked) {
      const { slug, user, userNow } = await gate.admitVisitor(asked, {
        counts: ["threads-by-token"],
        read: noBody(config.limits.maxBodyBytes),
      });
      const uid = newId();
      const thread = { slug, threadId: uid, uid, atMs: clock.now() };
      const added = await store.addThread({ ...thread, userId: user.userId });
      // Merged between the two calls: the token is the account's now. An account is never merged away.
      if (!added && !(await store.addThread({ ...thread, userId: (await userNow()).userId }))) {
        throw new Refusal("unavailable", "", 1);
      }
      asked.note({ uid });
      return jsonAnswer(201, { threadId: uid });
    },
  };
}
