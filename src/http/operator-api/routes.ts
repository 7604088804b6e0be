import { routesOf } from "../endpoint-route.ts";
import type { Route } from "../route.ts";
import { operatorHandleOf } from "./admit.ts";
import { auditEndpoint } from "./audit.ts";
import { capsEndpoint } from "./caps.ts";
import { channelsEndpoints } from "./channels.ts";
import { deskEndpoints } from "./desk.ts";
import { eventsEndpoint } from "./events.ts";
import { exportEndpoints } from "./export.ts";
import { handOffEndpoints } from "./hand-off.ts";
import { ipsEndpoints } from "./ips.ts";
import { knowledgeEndpoints } from "./knowledge.ts";
import type { OperatorApi } from "./operator-api.ts";
import { me, operatorsEndpoints } from "./operators.ts";
import { statsEndpoints } from "./stats.ts";
import { threadsEndpoints } from "./threads.ts";
import { unreadableEndpoint } from "./unreadable.ts";
import { usersEndpoints } from "./users.ts";
import { watchEndpoint } from "./watch.ts";
import { messengerEndpoints } from "./messenger.ts";
import { webhooksEndpoints } from "./webhooks.ts";

/** /v1/operator: the operators' API. No CORS headers: pages of other origins must not use it. */
export function operatorRoutes(api: OperatorApi): Route[] {
  const endpoints = [
    me,
    ...channelsEndpoints(api),
    ...webhooksEndpoints(api),
    ...messengerEndpoints(api),
    ...knowledgeEndpoints(api),
    ...usersEndpoints(api),
    ...threadsEndpoints(api),
    ...exportEndpoints(api),
    watchEndpoint(api),
    ...handOffEndpoints(api),
    ...deskEndpoints(api),
    ...ipsEndpoints(api),
    ...operatorsEndpoints(api),
    unreadableEndpoint(api),
    auditEndpoint(api),
    eventsEndpoint(api),
    ...statsEndpoints(api),
    capsEndpoint(api),
  ];
  return routesOf(endpoints, operatorHandleOf(api));
}
