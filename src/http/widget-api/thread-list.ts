import { fieldsOf } from "../reference/documentation.ts";
import type { Threads } from "../../actors/threads.ts";
import { saidName } from "../../domain/renamed-threads.ts";
import { attempt, queryOf } from "../body.ts";
import { documentedJson, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { EXAMPLE_THREADS, threadPage, threadPageOf, threadsFields, threadsQuery } from "../thread-page.ts";
import { asRead } from "./gate.ts";
import type { Gate } from "./gate.ts";

const documentation: Documentation = {
  summary: "List the visitor's conversations",
  description:
    "The latest activity first: when a message came into the history last, or, of an empty thread, when it was made. Right within 5 s.",
  credential: "visitorToken",
  params: {},
  query: fieldsOf(threadsFields),
  headers: originHeader,
  body: null,
  answers: {
    200: documentedJson("The threads", threadPage, EXAMPLE_THREADS),
    ...widgetRefusals(["unauthorized", "forbidden", "too-large", "rate-limited", "invalid", "unavailable"]),
  },
};

/** GET /v1/widget/threads: the visitor's own conversations. */
export function threadListRoute({ gate, threads }: { gate: Gate; threads: Pick<Threads, "list"> }): Route {
  return {
    method: "GET",
    path: "/v1/widget/threads",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { slug, user, body, renamed } = await gate.admitVisitor(incoming, {
        ...asRead,
        read: async (request) => attempt(() => queryOf(request, threadsQuery)),
      });
      const [page, names] = await Promise.all([
        threadPageOf(threads, { slug, userId: user.userId }, body),
        renamed(),
      ]);
      const items = page.items.map((item) => ({ ...item, threadId: saidName(names, item.threadId) }));
      return jsonAnswer(200, { ...page, items });
    },
  };
}
