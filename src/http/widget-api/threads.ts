import { z } from "zod";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import { documentedJson, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import type { Gate } from "./gate.ts";
import { ignoredBody } from "./request-readers.ts";

const documentation: Documentation = {
  summary: "Start a conversation",
  description: "Answers the id of a new thread of this visitor. No body.",
  credential: "visitorToken",
  params: {},
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    201: documentedJson("The new thread", z.object({ threadId: z.string() }), {
      threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
    }),
    ...widgetRefusals(["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"]),
  },
};

/** POST /v1/widget/threads: a new conversation. Its id is its uid. */
export function threadsRoute(dependencies: {
  gate: Gate;
  store: Pick<Store, "addThread">;
  clock: Clock;
  config: Pick<Config, "limits">;
}): Route {
  const { gate, store, clock, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/widget/threads",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { slug, user, userNow } = await gate.admitVisitor(incoming, {
        counts: ["threads-by-token"],
        read: ignoredBody(config.limits.maxBodyBytes),
      });
      const uid = newId();
      const thread = { slug, threadId: uid, uid, atMs: clock.now() };
      const added = await store.addThread({ ...thread, userId: user.userId });
      // The visitor was merged between the two calls: the token is the account's now. An account is never merged away.
      if (!added && !(await store.addThread({ ...thread, userId: (await userNow()).userId }))) {
        throw new Refusal("unavailable", "", 1);
      }
      incoming.note({ uid });
      return jsonAnswer(201, { threadId: uid });
    },
  };
}
