import type { Route } from "../route.ts";
import { auditRoute } from "./audit.ts";
import { capsRoute } from "./caps.ts";
import { channelsRoutes } from "./channels.ts";
import { handOffRoutes } from "./hand-off.ts";
import { exportRoutes } from "./export.ts";
import { forgettingRoutes } from "./forgetting.ts";
import { eventsRoute } from "./events.ts";
import { ipsRoutes } from "./ips.ts";
import { meRoute } from "./me.ts";
import type { OperatorApi } from "./operator-route.ts";
import { operatorsRoutes } from "./operators.ts";
import { statsRoute } from "./stats.ts";
import { threadsRoutes } from "./threads.ts";
import { unreadableRoute } from "./unreadable.ts";
import { usersRoutes } from "./users.ts";
import { webhooksRoutes } from "./webhooks.ts";
import { watchRoute } from "./watch.ts";

/** /v1/operator: the operators' API. No CORS headers: pages of other origins must not use it. */
export function operatorRoutes(api: OperatorApi): Route[] {
  return [
    meRoute(api), //          GET  /me
    ...channelsRoutes(api), // GET, POST /channels; GET, PATCH /channels/:slug; POST …/rotate-keys, …/stop
    ...webhooksRoutes(api), // GET /channels/:slug/webhooks; POST …/test, …/replay
    ...usersRoutes(api), //   GET  /channels/:slug/users; GET, PATCH …/:userId; POST …/revoke, …/stop
    ...threadsRoutes(api), // GET /channels/:slug/threads, …/:id, …/:id/messages, …/:id/runs
    ...exportRoutes(api), //  GET  /channels/:slug/users/:userId/export, …/threads/:id/export
    ...forgettingRoutes(api), // DELETE /channels/:slug/threads/:id, …/users/:userId
    watchRoute(api), //       GET  /channels/:slug/threads/:id/watch
    ...handOffRoutes(api), // POST …/threads/:id/take, …/messages, …/typing, …/return, …/close
    ...ipsRoutes(api), //     GET, POST /ips; DELETE /ips/:address
    ...operatorsRoutes(api), // GET, POST /operators; DELETE …/:name; POST …/:name/rotate
    unreadableRoute(api), //  GET  /unreadable
    auditRoute(api), //       GET  /audit
    eventsRoute(api), //      GET  /events
    statsRoute(api), //       GET  /stats
    capsRoute(api), //        GET  /caps
  ];
}
