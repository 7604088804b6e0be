import { z } from "zod";
import { bearerFrom } from "../../admission/keys.ts";
import { eventLine } from "../../protocol/feed.ts";
import { queryOf } from "../body.ts";
import { feedQuery } from "../feeds/feed-answer.ts";
import { createOperatorFeeds } from "../feeds/operator-feeds.ts";
import type { Route } from "../route.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";
import { EXAMPLE_THREAD } from "./threads.ts";
import type { OperatorRole } from "../../domain/operator.ts";

const ROLES: readonly OperatorRole[] = ["admin", "agent"];

/** GET /v1/operator/events: the changes that an inbox shows, live. */
export function eventsRoute(api: OperatorApi): Route {
  const { directory, threads, clock, store } = api;
  const slugs = () => directory.channels().map(({ slug }) => slug);
  const feeds = createOperatorFeeds({
    changes: api.threadChanges,
    processId: store.processId,
    operatorOf: (key) => directory.operatorOf(key),
    mayFollow: ({ role }) => ROLES.includes(role),
    slugs,
    isStopping: () => threads.isDraining(),
    clock,
  });
  return operatorRoute(api, {
    method: "GET",
    path: "/events",
    roles: ROLES,
    scope: "channels",
    summary: "Follow what changes",
    description:
      "Stays open, and tells of each change of a thread's state, on whatever instance, within some seconds: the thread as it is then, without a text. Who is limited to channels is told of theirs. It has no closing line: come back with the last `cursor`, in `after`. A line may come twice where another instance answers. A sign of life comes first, and at least every 20 s. Of more than 5 for an operator on an instance the oldest ends.",
    query: {
      after: {
        description: "The `cursor` of the last line that is known; without it: only what is new",
        schema: z.string(),
        required: false,
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
    handle({ incoming, operator }) {
      const { after } = queryOf(incoming.request, feedQuery);
      const key = bearerFrom(incoming.request.headers.get("authorization")) ?? "";
      return feeds.open(key, operator, after);
    },
  });
}
