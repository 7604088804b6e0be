import { copilotKit } from "./ag-ui/copilot-kit.ts";
import { AG_UI, runEndpoint } from "./ag-ui/run.ts";
import { chatThread } from "./ai-sdk/chat-thread.ts";
import { chatEndpoint } from "./ai-sdk/chat.ts";
import { consoleRoutes } from "./console/console-route.ts";
import { signInRoutes } from "./console/sign-in.ts";
import { openToAll, routesOf } from "./endpoint-route.ts";
import { createVisitorFeeds } from "./feeds/visitor-feeds.ts";
import { healthEndpoint } from "./health.ts";
import type { HealthFacts, HealthNotes } from "./health.ts";
import type { KeptKeys } from "./operator-api/operator-api.ts";
import { operatorRoutes } from "./operator-api/routes.ts";
import { createReads } from "./reads.ts";
import type { Reads } from "./reads.ts";
import { swaggerRoutes } from "./reference/swagger.ts";
import type { Route } from "./route.ts";
import { serverHandleOf } from "./server-api/admit.ts";
import { serverFiles } from "./server-api/files.ts";
import { serverMessages } from "./server-api/messages.ts";
import { serverThreads } from "./server-api/threads.ts";
import { serverUsers } from "./server-api/users.ts";
import { widgetHandleOf } from "./widget-api/admit.ts";
import { preflight } from "./widget-api/cors.ts";
import { widgetFiles } from "./widget-api/files.ts";
import { widgetMessages } from "./widget-api/messages.ts";
import { visitorDesk } from "./widget-api/desk.ts";
import { widgetThreads } from "./widget-api/threads.ts";
import { widgetTools } from "./widget-api/tools.ts";
import { createSayAgain } from "./said-again.ts";
import { createVisitorMessages } from "./widget-api/visitor-message.ts";
import { widgetVisitors } from "./widget-api/visitors.ts";
import type { Agent } from "../agent.ts";
import type { Threads } from "../threads/threads.ts";
import type { Visitors } from "../visitors/visitors.ts";
import type { Directory } from "../admission/directory.ts";
import type { KeyDoor } from "../admission/key-door.ts";
import { createOperatorAdmission } from "../admission/operator-admission.ts";
import type { RateWindows } from "../admission/rate-windows.ts";
import { createServerAdmission } from "../admission/server-admission.ts";
import { createWidgetAdmission } from "../admission/widget-admission.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import { createChannelVariables } from "../config/channel-variables.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import { mcpSignInRoutes } from "./mcp-sign-in.ts";
import type { McpSignInDependencies } from "./mcp-sign-in.ts";
import type { Knowledge } from "../knowledge.ts";
import type { PlainLog } from "../log.ts";
import { createThreadChanges } from "../operators/threads/thread-changes.ts";
import type { ThreadChanges } from "../operators/threads/thread-changes.ts";
import type { Secret } from "../secret.ts";
import type { Store } from "../store.ts";

export interface RouteDependencies {
  config: Pick<
    Config,
    | "limits"
    | "addressMaxTokensPerDay"
    | "maxTokensPerDay"
    | "logAddresses"
    | "maxHeadBytes"
    | "serverMaxBodyBytes"
    | "files"
    | "clientIpSource"
    | "trustedProxyHops"
    | "console"
    | "openId"
    | "publicUrl"
    | "swagger"
    | "webhooksPrivate"
    | "mcpPrivate"
    | "knowledgePrivate"
    | "visitorTtlMs"
    | "contentKeys"
    | "agentMaxInputTokens"
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
  /** Finishes a visitor's sign-in to an MCP server (agent.ts); absent: none can begin. */
  finishSignIn?: McpSignInDependencies["finishSignIn"];
  /** Keeps keys that the operator API makes for the next start. */
  keepKeys?: KeptKeys;
  /** Changes of the channels' threads, for operators. */
  threadChanges?: ThreadChanges;
  /** For drafts of operators' answers. */
  agent?: Pick<Agent, "think">;
  /** Absent, null: the store keeps no documents. */
  knowledge?: Knowledge | null;
  /** Absent: channels may name the variables `CHANNEL_…` alone. */
  channelVariables?: ChannelVariables;
  /** True while readers leave too much unread; by default false. */
  isCrowded?: () => boolean;
}

export const KEEP_NOTHING: KeptKeys = { channel() {}, operator() {} };

/** The whole API. */
export function apiRoutes(dependencies: RouteDependencies): Route[] {
  const { config, finishSignIn, isCrowded = () => false } = dependencies;
  const reads = createReads(isCrowded);
  const routes = [
    ...serverRoutes({ ...dependencies, reads }),
    ...widgetRoutes({ ...dependencies, reads }),
    ...routesOf([healthEndpoint({ ...dependencies, facts: dependencies.health })], openToAll),
    ...(finishSignIn ? mcpSignInRoutes({ ...dependencies, finishSignIn }) : []),
    ...(config.console ? operatedRoutes({ ...dependencies, reads }) : []),
  ];
  return config.swagger ? [...routes, ...swaggerRoutes(routes)] : routes;
}

type WithReads = RouteDependencies & { reads: Reads };

/** /v1/… for backends and bots. */
function serverRoutes(dependencies: WithReads): Route[] {
  const server = { ...dependencies, admission: createServerAdmission(dependencies) };
  const endpoints = [
    ...serverMessages(server),
    ...serverThreads(server),
    ...serverFiles(server),
    ...serverUsers(server),
  ];
  return routesOf(endpoints, serverHandleOf(server));
}

/** /v1/widget/… for browsers. */
function widgetRoutes(dependencies: WithReads): Route[] {
  const messages = createVisitorMessages(dependencies);
  const widget = {
    ...dependencies,
    admission: createWidgetAdmission(dependencies),
    messages,
    sayAgain: createSayAgain({ ...dependencies, messages }),
    visitorFeeds: createVisitorFeeds(dependencies),
  };
  const endpoints = [
    ...widgetVisitors(widget),
    ...widgetThreads(widget),
    ...visitorDesk(widget),
    ...widgetMessages(widget),
    ...widgetFiles(widget),
    ...widgetTools(widget),
    preflight,
    chatEndpoint(widget),
    ...chatThread(widget),
    runEndpoint(widget, AG_UI),
    ...copilotKit(widget),
  ];
  return routesOf(endpoints, widgetHandleOf(widget));
}

/** /v1/operator/…, and the console, which shows what that answers. */
function operatedRoutes(dependencies: WithReads): Route[] {
  const { keepKeys = KEEP_NOTHING, threadChanges = changesOver(dependencies) } = dependencies;
  const { channelVariables = createChannelVariables(), knowledge = null } = dependencies;
  const admission = createOperatorAdmission(dependencies);
  const operated = { ...dependencies, admission, keepKeys, threadChanges, channelVariables, knowledge };
  return [...operatorRoutes(operated), ...signInRoutes(operated), ...consoleRoutes()];
}

export function changesOver(
  dependencies: Pick<RouteDependencies, "store" | "directory" | "clock" | "log">,
): ThreadChanges {
  const { directory } = dependencies;
  return createThreadChanges({ ...dependencies, slugs: () => directory.channels().map(({ slug }) => slug) });
}
