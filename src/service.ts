import { nobody } from "./threads/dependencies.ts";
import type { ThreadObserver } from "./threads/dependencies.ts";
import { createSilentVisitors } from "./visitors/silent-visitors.ts";
import { createUnreadSweep } from "./threads/desk/unread-sweep.ts";
import { threadLimitsOf } from "./threads/thread-limits.ts";
import { isInShare } from "./threads/delete/in-share.ts";
import { createStoreClock } from "./threads/store-clock.ts";
import { createThreads } from "./threads/threads.ts";
import type { RunningThreads, Threads } from "./threads/threads.ts";
import { createVisitors } from "./visitors/visitors.ts";
import { createDirectory } from "./admission/directory.ts";
import type { Directory } from "./admission/directory.ts";
import { createKeyDoor } from "./admission/key-door.ts";
import type { KeyDoor } from "./admission/key-door.ts";
import { createRateWindows } from "./admission/rate-windows.ts";
import type { Agent } from "./agent.ts";
import type { Spending } from "./agent/budget.ts";
import type { Grants } from "./agent/mcp/sign-in/visitor-oauth.ts";
import { createAgent } from "./agent/create-agent.ts";
import type { AgentOptions } from "./agent/create-agent.ts";
import { ignoredBody } from "./agent/ignored-body.ts";
import { notesByModel } from "./agent/model-notes.ts";
import { unknownModels } from "./agent/unknown-models.ts";
import { systemTimers } from "./clock.ts";
import type { Clock } from "./clock.ts";
import { newId } from "./domain/ids.ts";
import { messageOf } from "./errors.ts";
import { addressOf } from "./config.ts";
import { createChannelVariables } from "./config/channel-variables.ts";
import type { ChannelVariables } from "./config/channel-variables.ts";
import { keyWarningsOf } from "./config/warnings.ts";
import type { Config } from "./config.ts";
import type { Channel, McpServer } from "./domain/channels/channel.ts";
import { MCP_CALLBACK } from "./domain/channels/mcp-client.ts";
import { variablesOf } from "./domain/channels/channel-variables.ts";
import { handOffOf } from "./domain/threads/hand-off.ts";
import { receiversOf } from "./domain/channels/messenger.ts";
import { isNamed } from "./domain/channels/mcp-addresses.ts";
import { dayOf } from "./domain/day.ts";
import { commandLineApi } from "./http/operator-api/command-line.ts";
import { createReads } from "./http/reads.ts";
import { changesOver, KEEP_NOTHING } from "./http/routes.ts";
import { isForMessengers, messengerRoutes } from "./http/messengers.ts";
import { createHandler } from "./http/handler.ts";
import type { HandlerDependencies } from "./http/handler.ts";
import type { Route } from "./http/route.ts";
import { UNREAD_TOTAL_BYTES } from "./listener.ts";
import type { Handler, Listener } from "./listener.ts";
import { chooseListen } from "./listeners/choose.ts";
import { whyNoNativeBuild } from "./listeners/uws/native-build.ts";
import { unreadBytes } from "./listeners/unread.ts";
import type { Knowledge } from "./knowledge.ts";
import { createDocumentTexts } from "./knowledge/document-texts.ts";
import type { DocumentTexts } from "./knowledge/document-texts.ts";
import { createKnowledge, withKnowledge } from "./knowledge/create-knowledge.ts";
import type { Log } from "./log.ts";
import type { Model } from "./model.ts";
import type { Secret } from "./secret.ts";
import type { Share, Store } from "./store.ts";
import type { Tracing } from "./trace.ts";
import { createStatCounts } from "./operators/stats/count-stats.ts";
import { createRetention } from "./operators/retention/retention.ts";
import { noProgress } from "./operators/retention/retention-sweep.ts";
import type { RetentionProgress } from "./operators/retention/retention-sweep.ts";
import type { ThreadChanges } from "./operators/threads/thread-changes.ts";
import { VERSION } from "./version.ts";
import { itemOf } from "./http/history-page.ts";
import { createMessengers } from "./messengers/messengers.ts";
import type { Messengers } from "./messengers/messengers.ts";
import { createOwnDoor } from "./messengers/own-door.ts";
import { deletedTellings } from "./webhooks/deleted.ts";
import { identifiedTellings } from "./webhooks/identified.ts";
import { findEndpoint } from "./webhooks/lane.ts";
import type { LaneDependencies } from "./webhooks/lane.ts";
import { createSender } from "./webhooks/send.ts";
import { secretsOf } from "./webhooks/sign.ts";
import { tellingStore } from "./webhooks/telling-store.ts";
import { createWebhooks } from "./webhooks/webhooks.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** The caller opens the store and the model, and closes them after the service. */
export interface ServiceDependencies {
  config: Config;
  harnessApiKey: Secret;
  keyDoor?: KeyDoor;
  store: Store;
  model: Model;
  clock: Clock;
  log: Log;
  /** By slug: MCP servers of this instance only; they are not in the store. */
  ownServers?: ReadonlyMap<string, Record<string, McpServer>>;
  /** By slug: MCP servers whose addresses the owner of this instance chose: they may be private. */
  namedServers?: ReadonlyMap<string, readonly McpServer[]>;
  /** By slug: the variables that CHANNELS_FILE names for the channel. */
  namedVariables?: ReadonlyMap<string, ReadonlySet<string>>;
  observer?: ThreadObserver;
  onMcpRequest?: NonNullable<AgentOptions["onMcpRequest"]>;
  onSpent?: NonNullable<AgentOptions["onSpent"]>;
  /** Routes besides the API: the front page, the widget's script, metrics. */
  extraRoutes?: readonly Route[];
  onAnswered?: NonNullable<HandlerDependencies["onAnswered"]>;
  keepKeys?: NonNullable<HandlerDependencies["keepKeys"]>;
  /** Absent: traces are off. */
  tracing?: Tracing;
  onWebhook?: NonNullable<LaneDependencies["onTried"]>;
  retentionProgress?: RetentionProgress;
  /** True until the start is over: /health says that the instance is not ready. */
  isStarting?: () => boolean;
  /** True: other processes of this service listen on the same port. */
  isShared?: boolean;
}

export interface Service {
  /** Its address as seen from this machine, without a slash at the end. */
  url: string;
  listener: Listener["kind"];
  store: Store;
  threads: RunningThreads;
  directory: Directory;
  /** The operator API for the command line, without a key (http/operator-api/command-line.ts). */
  commandLine: Handler;
  /** Answers being written, streams included. */
  inFlight(): number;
  /**
   * Accepts no new connections, and serves the open ones until no run is left here, for `graceMs` at most, or until `hurry`
   * is aborted. Call `stop` afterwards.
   */
  retire(graceMs: number, hurry: AbortSignal): Promise<void>;
  /** Accepts no new connections, lets open streams end within the grace period, and leaves the rest to other instances. Call it once. */
  stop(graceMs: number): Promise<void>;
}

/** How long to wait for the last bytes to leave, after the last line of every stream. */
const LAST_BYTES_MS = 1_000;
/** A listener closes a connection without a request as much later as this, at most. */
const CLOSED_LATE_MS = 5_000;

/** The wiring: dependencies in, a running service out. */
export async function startService(dependencies: ServiceDependencies): Promise<Service> {
  const { config, store, clock, log } = dependencies;
  const directory = createDirectory({ store, log, clock });
  await directory.start();
  const channels = directory.channels();
  for (const warning of [...unknownModels(channels, dependencies.model), ...ignoredBody(channels)])
    log.warn(warning);
  const stats = createStatCounts({
    store,
    processId: store.processId,
    clock: createStoreClock(store, clock),
    log,
  });
  const variables = variablesOver(dependencies, directory);
  const knowledge = knowledgeOver(dependencies, { directory, share: () => threads.share() });
  const agent = stats.agent(agentOver(dependencies, { directory, variables, knowledge }));
  const threadChanges = changesOver({ store, directory, clock, log });
  const observer = poking(threadChanges, stats.observer(dependencies.observer ?? nobody));
  const messengers = messengersOver(dependencies, { directory, variables, threads: () => threads });
  const webhooks = webhooksOver(dependencies, {
    directory,
    variables,
    share: () => threads.share(),
    messengers,
  });
  const documents = createDocumentTexts();
  const telling = webhooks ? tellingStore(store, webhooks) : store;
  const threads = threadsOver(
    { ...dependencies, store: telling, observer },
    {
      agent,
      directory,
      webhooks,
      documents,
    },
  );
  const parts = { directory, threads, agent, threadChanges, telling, variables, messengers, knowledge };
  const listener = await openListener(dependencies, handlerOver(dependencies, parts));
  await threads.start();
  const silentVisitors = createSilentVisitors({
    store,
    channels: () => directory.channels(),
    clock,
    timers: systemTimers,
    log,
    ttlMs: config.visitorTtlMs,
  });
  silentVisitors.start();
  const retention = createRetention({
    store,
    forgets: threads.forgetting.aged,
    channels: () => directory.channels(),
    share: () => threads.share(),
    clock,
    timers: systemTimers,
    log,
    progress: dependencies.retentionProgress ?? noProgress,
  });
  retention.start();
  const unreadSweep = createUnreadSweep({
    store,
    desk: threads.desk,
    channels: () => directory.channels(),
    share: () => threads.share(),
    clock,
    timers: systemTimers,
    log,
  });
  unreadSweep.start();
  webhooks?.start();
  messengers?.start();
  knowledge?.start();

  let stopping: Promise<void> | null = null;
  async function stop(graceMs: number): Promise<void> {
    listener.stopAccepting();
    silentVisitors.stop();
    retention.stop();
    unreadSweep.stop();
    // The threads' timers do not keep the process alive, so something else must until they are drained.
    const alive = setInterval(() => {}, graceMs + LAST_BYTES_MS);
    await threads
      .drain(graceMs)
      .then(() => stats.stop())
      .then(() => messengers?.stop())
      .then(() => webhooks?.stop())
      .then(() => Promise.all([knowledge?.stop(), documents.stop()]))
      .finally(() => clearInterval(alive));
    await until(() => listener.inFlight() === 0, LAST_BYTES_MS, clock);
    await listener.close();
    directory.stop();
    await agent.close();
  }

  return {
    url: addressOf({ host: config.host, port: listener.port }),
    listener: listener.kind,
    store,
    threads,
    directory,
    commandLine: commandLineOver(dependencies, parts),
    inFlight: () => listener.inFlight(),
    async retire(graceMs, hurry) {
      listener.stopAccepting();
      const sinceMs = clock.elapsed();
      const isQuiet = () => threads.held() === 0 && threads.waiting() === 0;
      // By then each connection has closed, or was told that it will.
      const keptMs = listener.keepAliveMs + CLOSED_LATE_MS;
      const isOver = () => isQuiet() && clock.elapsed() - sinceMs >= keptMs;
      await until(() => hurry.aborted || isOver(), graceMs, clock);
    },
    stop: (graceMs) => (stopping ??= stop(graceMs)),
  };
}

function agentOver(
  dependencies: ServiceDependencies,
  {
    directory,
    variables,
    knowledge,
  }: { directory: Directory; variables: ChannelVariables; knowledge: Knowledge | null },
): Agent {
  const {
    config,
    store,
    model,
    clock,
    log,
    ownServers = new Map<string, never>(),
    namedServers = new Map<string, never>(),
    onMcpRequest,
    onSpent = () => {},
    tracing,
  } = dependencies;
  return createAgent({
    model,
    channel: (slug) => withOwnServers(directory.lastRead(slug), ownServers.get(slug)),
    defaultModel: model.defaultModel ?? config.openai.model,
    maxInputTokens: config.agentMaxInputTokens,
    clock,
    log,
    spending: spendingOf(store, clock),
    caps: { installation: config.maxTokensPerDay, address: config.addressMaxTokensPerDay },
    onSpent,
    findUser: (slug, userId) => store.findUser(slug, userId),
    variable: (name, slug) => variables.read(slug, name),
    allowsPrivate: (slug, server) => {
      const own = Object.values(ownServers.get(slug) ?? {});
      const named = [...own, ...(namedServers.get(slug) ?? [])];
      return config.mcpPrivate || isNamed(server, named);
    },
    signIns: {
      grants: (slug) => grantsOf(store, slug),
      redirectUrl: config.publicUrl === null ? null : `${config.publicUrl}${MCP_CALLBACK}`,
    },
    ...(knowledge ? { knowledge } : {}),
    ...(onMcpRequest ? { onMcpRequest } : {}),
    ...(tracing ? { tracing } : {}),
  });
}

function knowledgeOver(
  { config, store, model, clock, log }: ServiceDependencies,
  { directory, share }: { directory: Directory; share: () => Share },
): Knowledge | null {
  const { knowledge } = store;
  if (!knowledge) return null;
  const embed = model.embed?.bind(model);
  return createKnowledge({
    store: knowledge,
    channels: () => directory.channels().flatMap(withKnowledge),
    reads: (slug) => isInShare(slug, share()),
    async open() {
      const { openKnowledge } = await import("./knowledge/open-knowledge.ts");
      return openKnowledge({
        store: knowledge,
        clock,
        timers: systemTimers,
        log,
        allowsPrivate: config.knowledgePrivate,
        embed,
      });
    },
    timers: systemTimers,
    log,
  });
}

function grantsOf(store: Store, slug: string): Grants {
  return {
    read: (userId, server) => store.grant(slug, userId, server),
    keep: (userId, server, text) => store.keepGrant({ slug, userId, server, text }),
    keepSignIn: (signIn) => store.keepSignIn({ slug, ...signIn }),
    takeSignIn: (stateHash) => store.takeSignIn(slug, stateHash),
    hasSignIn: (stateHash) => store.hasSignIn(slug, stateHash),
  };
}

function variablesOver({ namedVariables, log }: ServiceDependencies, directory: Directory): ChannelVariables {
  return createChannelVariables({
    ...(namedVariables ? { named: namedVariables } : {}),
    onRefused({ slug, name, fault }) {
      const fields = variablesOf(directory.lastRead(slug) ?? {})
        .filter((one) => one.name === name)
        .map(({ field }) => field);
      log.warn({ channel: slug, fields }, `A channel's setting cannot be used: it names $${name}, ${fault}`);
    },
  });
}

function threadsOver(
  dependencies: ServiceDependencies,
  {
    agent,
    directory,
    webhooks,
    documents,
  }: { agent: Agent; directory: Directory; webhooks: Webhooks | null; documents: DocumentTexts },
): RunningThreads {
  const { config, store, clock, log, observer = nobody, tracing } = dependencies;
  return createThreads({
    store,
    agent,
    channelFault: (slug) => directory.faultOf(slug),
    webhooks: (slug) => receiversOf(directory.lastRead(slug) ?? {}),
    told: (refs) => webhooks?.told(refs),
    tellsDeletion: (deletion) =>
      deletedTellings(store, directory.lastRead(deletion.slug)?.webhooks ?? [], deletion),
    handOff: (slug) => handOffOf(directory.lastRead(slug)?.handoff),
    readDocument: documents.read,
    whileRunning: (slug) => directory.lastRead(slug)?.agent.whileRunning ?? "queue",
    clock,
    timers: systemTimers,
    newId,
    log,
    limits: threadLimitsOf(config),
    observer,
    isCrowded,
    ...(tracing ? { tracing } : {}),
  });
}

function commandLineOver(
  { config, store, clock, log, keepKeys = KEEP_NOTHING }: ServiceDependencies,
  parts: {
    directory: Directory;
    threads: Threads;
    threadChanges: ThreadChanges;
    variables: ChannelVariables;
    knowledge: Knowledge | null;
  },
): Handler {
  const { variables: channelVariables, ...rest } = parts;
  const reads = createReads(isCrowded);
  return commandLineApi({ ...rest, channelVariables, config, store, clock, log, keepKeys, reads });
}

function handlerOver(
  dependencies: ServiceDependencies,
  parts: {
    directory: Directory;
    threads: Threads;
    agent: Agent;
    threadChanges: ThreadChanges;
    telling: Store;
    variables: ChannelVariables;
    messengers: Messengers | null;
    knowledge: Knowledge | null;
  },
): Handler {
  const { directory, threads, agent, threadChanges, telling, variables, messengers, knowledge } = parts;
  const { config, harnessApiKey, store, model, clock, log } = dependencies;
  const { extraRoutes = [], onAnswered = () => {} } = dependencies;
  const { keyDoor = createKeyDoor({ config, clock, log }) } = dependencies;
  return createHandler({
    config,
    transportKeys: [harnessApiKey, ...config.olderApiKeys],
    keyDoor,
    store,
    threads,
    threadChanges,
    channelVariables: variables,
    knowledge,
    visitors: createVisitors({
      store: telling,
      tells: (bound) => identifiedTellings(directory.lastRead(bound.slug)?.webhooks ?? [], bound, clock),
      clock,
      ttlMs: config.visitorTtlMs,
      maxAgeMs: config.visitorMaxAgeMs,
      log,
    }),
    directory,
    windows: createRateWindows({ limits: config.limits, clock }),
    clock,
    log,
    health: {
      model: model.kind,
      version: VERSION,
      ...(model.answers ? { answers: model.answers } : {}),
      ...(model.ways ? { ways: model.ways } : {}),
    },
    warnings: () => [
      ...keyWarningsOf(config),
      ...unknownModels(directory.channels(), model),
      ...ignoredBody(directory.channels()),
      ...variables.warnings(directory.channels()),
      ...(agent.warnings?.() ?? []),
      ...(knowledge?.warnings() ?? []),
    ],
    models: () => notesByModel(model),
    agent,
    ...(agent.finishSignIn ? { finishSignIn: agent.finishSignIn } : {}),
    ...(dependencies.isStarting ? { isStarting: dependencies.isStarting } : {}),
    ...(dependencies.keepKeys ? { keepKeys: dependencies.keepKeys } : {}),
    ...(dependencies.tracing ? { tracing: dependencies.tracing } : {}),
    isCrowded,
    extraRoutes: [...extraRoutes, ...(messengers ? messengerRoutes({ messengers, config }) : [])],
    ...(config.messengers === "only" ? { isServed: isForMessengers } : {}),
    onAnswered,
  });
}

function webhooksOver(
  { config, store, clock, log, onWebhook }: ServiceDependencies,
  parts: {
    directory: Directory;
    variables: ChannelVariables;
    share: () => Share;
    messengers: Messengers | null;
  },
): Webhooks | null {
  const { directory, variables, share, messengers } = parts;
  const { outbox } = store;
  if (!outbox) return null;
  return createWebhooks({
    outbox,
    store,
    itemOf,
    sender: createSender({ clock, allowsPrivate: config.webhooksPrivate }),
    clock,
    timers: systemTimers,
    random: Math.random,
    log,
    channels: () => directory.channels(),
    share,
    webhook: (slug, endpoint) => findEndpoint(receiversOf(directory.lastRead(slug) ?? {}), endpoint),
    ...(messengers ? { messenger: messengers.delivery } : {}),
    secretsOf: (slug, webhook) => secretsOf(webhook, (name) => variables.read(slug, name), clock.now()),
    ...(onWebhook ? { onTried: onWebhook } : {}),
  });
}

/** Loads no package until a channel has a messenger. */
function messengersOver(
  { config, store, clock, log }: ServiceDependencies,
  parts: { directory: Directory; variables: ChannelVariables; threads: () => Threads },
): Messengers | null {
  const { outbox } = store;
  if (config.messengers === "off" || !outbox) return null;
  const { directory, variables } = parts;
  const threads: Pick<Threads, "say" | "files" | "followRun" | "history" | "keptText"> = {
    files: {
      keep: (upload) => parts.threads().files.keep(upload),
      keepAll: (...sent) => parts.threads().files.keepAll(...sent),
      get: (uid, id) => parts.threads().files.get(uid, id),
    },
    say: (...said) => parts.threads().say(...said),
    followRun: (...run) => parts.threads().followRun(...run),
    history: (...page) => parts.threads().history(...page),
    keptText: (...kept) => parts.threads().keptText(...kept),
  };
  return createMessengers({
    door: createOwnDoor({ directory, store, clock, threads }),
    channel: (slug) => directory.lastRead(slug),
    channels: () => directory.channels(),
    variables,
    maxFileBytes: config.files.maxBytes,
    outbox,
    store,
    threads,
    clock,
    timers: systemTimers,
    log,
  });
}

/** Notifies operators' feeds on this instance at once of changes made on this instance. */
function poking(changes: ThreadChanges, observer: ThreadObserver): ThreadObserver {
  return {
    ...observer,
    moved(moved) {
      changes.poke();
      observer.moved(moved);
    },
  };
}

function isCrowded(): boolean {
  return unreadBytes() > UNREAD_TOTAL_BYTES;
}

async function openListener(dependencies: ServiceDependencies, handler: Handler): Promise<Listener> {
  const { config, log, isShared = false } = dependencies;
  // What is longer than the setting is refused by the API, whose answer a page can read.
  const headLimitBytes = 2 * config.maxHeadBytes;
  const { listen, note } = await chooseListen(config.listener, isShared, () =>
    whyNoNativeBuild(headLimitBytes),
  );
  if (note !== null) log.warn(note);
  try {
    const listener = await listen({
      host: config.host,
      port: config.port,
      isShared,
      handler,
      headLimitBytes,
      keepAliveMs: config.keepAliveMs,
      onFault: (error) => log.error({ err: error }, "cannot answer a request to its end"),
    });
    if (listener.keepAliveMs < config.keepAliveMs) log.warn(shortKeepAlive(listener, config));
    return listener;
  } catch (cause) {
    throw new Error(`${messageOf(cause)}; HOST and PORT may name another one`, { cause });
  }
}

function shortKeepAlive(listener: Listener, config: Pick<Config, "keepAliveMs">): string {
  const [kept, wanted] = [listener.keepAliveMs, config.keepAliveMs].map((ms) => ms / 1_000);
  return `this build of uWebSockets.js may close a connection ${kept} s after an answer, whatever KEEP_ALIVE_SECONDS (${wanted}) says: behind a balancer that keeps connections for longer, set LISTENER=node, or install the build that package.json names`;
}

/** The channel with the MCP servers of this instance added to its own. */
function withOwnServers(channel: Channel | null, own: Record<string, McpServer> | undefined): Channel | null {
  if (channel === null || own === undefined) return channel;
  const mcpServers = { ...channel.agent.mcpServers, ...own };
  return { ...channel, agent: { ...channel.agent, mcpServers } };
}

function spendingOf(store: Store, clock: Clock): Spending {
  return {
    today: () => dayOf(clock.now()),
    spent: (slug, userId, day) => store.spentTokens(slug, userId, day),
    spend: (spent) => store.spendTokens(spent),
    counted: (names, day) => store.countedTokens(names, day),
    count: (counted) => store.countTokens(counted),
  };
}

async function until(holds: () => boolean, withinMs: number, clock: Clock): Promise<void> {
  const endsAt = clock.elapsed() + withinMs;
  while (!holds() && clock.elapsed() < endsAt) await new Promise((resolve) => setTimeout(resolve, 10));
}
