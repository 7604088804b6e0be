import { bearerFrom } from "../../admission/keys.ts";
import { eventLine } from "../../protocol/feed.ts";
import { endpoint } from "../endpoint.ts";
import { createOperatorFeeds } from "../feeds/operator-feeds.ts";
import type { OperatorApi } from "./operator-api.ts";
import { EXAMPLE_THREAD } from "./threads.ts";
import type { OperatorRole } from "../../domain/people/operator.ts";

const ROLES: readonly OperatorRole[] = ["admin", "agent"];

/** GET /v1/operator/events: the changes that an inbox shows, live. */
export function eventsEndpoint({
  directory,
  threads,
  threadChanges: changes,
  clock,
  store,
}: Pick<OperatorApi, "directory" | "threads" | "threadChanges" | "clock" | "store">) {
  const slugs = () => directory.channels().map(({ slug }) => slug);
  const feeds = createOperatorFeeds({
    changes,
    processId: store.processId,
    operatorOf: (key) => directory.operatorOf(key),
    mayFollow: ({ role }) => ROLES.includes(role),
    slugs,
    isStopping: () => threads.isDraining(),
    clock,
  });
  return endpoint({
    method: "GET",
    path: "/v1/operator/events",
    credential: "operatorKey",
    roles: ROLES,
    summary: "Follow what changes",
    description:
      "Stays open, and tells of each change of a thread's state, on whatever instance, within some seconds: the thread as it is then, with the same fields as in the list. Who is limited to channels is told of theirs. It has no closing line: come back with the last `cursor`, in `after`. A line may come twice where another instance answers. A sign of life comes first, and at least every 20 s. Of more than 5 for an operator on an instance the oldest ends.",
    query: {
      after: {
        description: "The `cursor` of the last line that is known; without it: only what is new",
        example: "cDEgMTIgMTgwMDAwMDAwMDAwMA",
      },
    },
    answers: {
      200: {
        description: "The feed",
        headers: {},
        body: {
          type: "application/x-ndjson",
          schema: eventLine,
          example: {
            type: "thread",
            cursor: "cDEgMTIgMTgwMDAwMDAwMDAwMA",
            channel: "shop",
            ...EXAMPLE_THREAD,
          },
        },
      },
    },
    handle({ caller, query, request }) {
      const key = bearerFrom(request.headers.get("authorization")) ?? "";
      return feeds.open(key, caller, query.after);
    },
  });
}
