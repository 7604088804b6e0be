import { accessRoute } from "./server-api/access.ts";
import { identifyRoute } from "./server-api/identify.ts";
import { serverCancelRoute } from "./server-api/messages-cancel.ts";
import { serverMessagesRoute } from "./server-api/messages.ts";
import { revokeRoute } from "./server-api/revoke.ts";
import { createVisitorFeeds } from "./feeds/visitor-feeds.ts";
import { serverEventsRoute } from "./server-api/thread-events.ts";
import { serverFeedbackRoute } from "./server-api/thread-feedback.ts";
import { serverHistoryRoute } from "./server-api/thread-messages.ts";
import { serverStreamRoute } from "./server-api/thread-stream.ts";
import { serverHandOffRoute } from "./server-api/thread-handoff.ts";
import { serverThreadsRoute } from "./server-api/threads.ts";
import type { Directory } from "../admission/directory.ts";
import { createOperatorAdmission } from "../admission/operator-admission.ts";
import { createServerAdmission } from "../admission/server-admission.ts";
import { createWidgetAdmission } from "../admission/widget-admission.ts";
import type { RateWindows } from "../admission/rate-windows.ts";
import type { Threads } from "../actors/threads.ts";
import type { Visitors } from "../actors/visitors.ts";
import type { KeyDoor } from "../admission/key-door.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { createChannelVariables } from "../config/channel-variables.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import type { PlainLog } from "../log.ts";
import type { Secret } from "../secret.ts";
import type { Store } from "../store.ts";
import { createThreadChanges } from "../operators/thread-changes.ts";
import type { ThreadChanges } from "../operators/thread-changes.ts";
import { consoleRoutes } from "./console/console-route.ts";
import { signInRoutes } from "./console/sign-in.ts";
import { chatMessagesRoute } from "./ai-sdk/chat-messages.ts";
import { chatStopRoute } from "./ai-sdk/chat-stop.ts";
import { chatStreamRoute } from "./ai-sdk/chat-stream.ts";
import { chatRoute } from "./ai-sdk/chat.ts";
import { copilotConnectRoute } from "./ag-ui/copilot-connect.ts";
import { copilotInfoRoute } from "./ag-ui/copilot-info.ts";
import { copilotRunRoute, copilotStopRoute } from "./ag-ui/copilot-run.ts";
import { agUiRoute } from "./ag-ui/run.ts";
import { createReads } from "./reads.ts";
import { healthRoute } from "./health.ts";
import type { HealthNotes } from "./health.ts";
import type { HealthFacts } from "./health.ts";
import type { KeptKeys } from "./operator-api/operator-route.ts";
import { operatorRoutes } from "./operator-api/routes.ts";
import type { Route } from "./route.ts";
import { swaggerRoutes } from "./reference/swagger.ts";
import { widgetCancelRoute } from "./widget-api/cancel.ts";
import { widgetDeleteRoute } from "./widget-api/delete.ts";
import { preflightRoute } from "./widget-api/cors.ts";
import { createGate } from "./widget-api/gate.ts";
import { eventsRoute } from "./widget-api/events.ts";
import { feedbackRoute } from "./widget-api/feedback.ts";
import { handOffCancelRoute, handOffRoute } from "./widget-api/hand-off.ts";
import { historyRoute } from "./widget-api/history.ts";
import { widgetMessagesRoute } from "./widget-api/messages.ts";
import { streamRoute } from "./widget-api/stream.ts";
import { threadListRoute } from "./widget-api/thread-list.ts";
import { threadsRoute } from "./widget-api/threads.ts";
import { toolResultsRoute } from "./widget-api/tool-results.ts";
import { toolsRoute } from "./widget-api/tools.ts";
import { createVisitorMessages } from "./widget-api/visitor-message.ts";
import { visitorsRoute } from "./widget-api/visitors.ts";

export interface RouteDependencies {
  config: Pick<
    Config,
    | "limits"
    | "addressMaxTokensPerDay"
    | "maxTokensPerDay"
    | "logAddresses"
    | "maxHeadBytes"
    | "serverMaxBodyBytes"
    | "clientIpSource"
    | "trustedProxyHops"
    | "console"
    | "openId"
    | "swagger"
    | "webhooksPrivate"
    | "mcpPrivate"
    | "visitorTtlMs"
  >;
  /** The keys of HARNESS_API_KEY, configured or generated; each of them is valid. */
  transportKeys: readonly Secret[];
  keyDoor: KeyDoor;
  store: Store;
  threads: Threads;
  visitors: Visitors;
  directory: Directory;
  windows: RateWindows;
  clock: Clock;
  log: PlainLog;
  health: HealthFacts;
  /** Warnings for /health besides those of the store, one sentence each. */
  warnings?: () => string[];
  /** For /health: what is known of the models beside the settings, by PROVIDER/MODEL. */
  models?: () => HealthNotes;
  /** See healthRoute. */
  isStarting?: () => boolean;
  /** Keeps keys that the operator API makes for the next start. */
  keepKeys?: KeptKeys;
  /** Changes of the channels' threads, for operators. */
  threadChanges?: ThreadChanges;
  /** Absent: channels may name the variables `CHANNEL_…` alone. */
  channelVariables?: ChannelVariables;
  /** True while readers leave too much unread; by default false. */
  isCrowded?: () => boolean;
}

export const KEEP_NOTHING: KeptKeys = { channel() {}, operator() {} };

/** The whole API. */
export function apiRoutes(dependencies: RouteDependencies): Route[] {
  const admission = createWidgetAdmission(dependencies);
  const reads = createReads(dependencies.isCrowded ?? (() => false));
  const visitorFeeds = createVisitorFeeds(dependencies);
  const server = { ...dependencies, reads, admission: createServerAdmission(dependencies) };
  const gate = createGate({ admission, threads: dependencies.threads });
  const messages = createVisitorMessages(dependencies);
  const widget = { ...dependencies, reads, admission, gate, messages, visitorFeeds };

  const routes: Route[] = [
    serverMessagesRoute(server), //  POST    /v1/messages
    serverCancelRoute(server), //    POST    /v1/messages/cancel
    serverThreadsRoute(server), //   GET     /v1/threads
    serverHistoryRoute(server), //   GET     /v1/threads/:threadId/messages
    serverStreamRoute(server), //    GET     /v1/threads/:threadId/stream
    serverEventsRoute(server), //    GET     /v1/threads/:threadId/events
    serverHandOffRoute(server), //   POST    /v1/threads/:threadId/handoff
    serverFeedbackRoute(server), //  POST    /v1/threads/:threadId/feedback
    accessRoute(server), //          POST    /v1/access
    identifyRoute(server), //        POST    /v1/channels/:slug/identify
    revokeRoute(server), //          POST    /v1/channels/:slug/revoke

    visitorsRoute(widget), //        POST    /v1/widget/visitors
    threadsRoute(widget), //         POST    /v1/widget/threads
    threadListRoute(widget), //      GET     /v1/widget/threads
    historyRoute(widget), //         GET     /v1/widget/threads/:id/messages
    streamRoute(widget), //          GET     /v1/widget/threads/:id/stream
    eventsRoute(widget), //          GET     /v1/widget/threads/:id/events
    widgetCancelRoute(widget), //    POST    /v1/widget/threads/:id/cancel
    widgetDeleteRoute(widget), //    POST    /v1/widget/threads/:id/delete
    handOffRoute(widget), //         POST    /v1/widget/threads/:id/handoff
    handOffCancelRoute(widget), //   POST    /v1/widget/threads/:id/handoff/cancel
    feedbackRoute(widget), //        POST    /v1/widget/threads/:id/feedback
    widgetMessagesRoute(widget), //  POST    /v1/widget/messages
    toolsRoute(widget), //           POST    /v1/widget/tools
    toolResultsRoute(widget), //     POST    /v1/widget/tool-results
    preflightRoute(widget), //       OPTIONS /v1/widget/*

    chatRoute(widget), //            POST    /v1/widget/ai-sdk/chat
    chatStreamRoute(widget), //      GET     /v1/widget/ai-sdk/chat/:id/stream
    chatStopRoute(widget), //        POST    /v1/widget/ai-sdk/chat/:id/stop
    chatMessagesRoute(widget), //    GET     /v1/widget/ai-sdk/chat/:id/messages

    agUiRoute(widget), //            POST    /v1/widget/ag-ui
    copilotInfoRoute(widget), //     GET     /v1/widget/copilotkit/info
    copilotRunRoute(widget), //      POST    /v1/widget/copilotkit/agent/:id/run
    copilotConnectRoute(widget), //  POST    /v1/widget/copilotkit/agent/:id/connect
    copilotStopRoute(widget), //     POST    /v1/widget/copilotkit/agent/:id/stop/:threadId

    healthRoute({ ...dependencies, facts: dependencies.health }), // GET /health
  ];
  const { config, keepKeys = KEEP_NOTHING } = dependencies;
  if (config.console) {
    const operators = createOperatorAdmission(dependencies);
    const { threadChanges = changesOver(dependencies) } = dependencies;
    const { channelVariables = createChannelVariables() } = dependencies;
    const operated = {
      ...dependencies,
      reads,
      admission: operators,
      keepKeys,
      threadChanges,
      channelVariables,
    };
    routes.push(...operatorRoutes(operated)); // /v1/operator/*
    routes.push(...signInRoutes({ ...dependencies, admission: operators })); // GET, POST /console/sign-in; POST …/finish, /console/sign-out
    routes.push(...consoleRoutes()); // GET /console, /console/*
  }
  return config.swagger ? [...routes, ...swaggerRoutes(routes)] : routes; // GET /swagger, /swagger/openapi.json
}

export function changesOver(
  dependencies: Pick<RouteDependencies, "store" | "directory" | "clock" | "log">,
): ThreadChanges {
  const { directory } = dependencies;
  return createThreadChanges({ ...dependencies, slugs: () => directory.channels().map(({ slug }) => slug) });
}
