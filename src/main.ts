import { fstatSync } from "node:fs";
import { createKeyDoor } from "./admission/key-door.ts";
import { mustTell, readChannelsFile, upsertChannels } from "./installation/channels-file.ts";
import type { WrittenChannels } from "./installation/channels-file.ts";
import { systemClock } from "./clock.ts";
import { readConfig, readVariable, secretsOf } from "./config.ts";
import { warningsOf } from "./config/warnings.ts";
import type { Config } from "./config.ts";
import { messageOf } from "./errors.ts";
import type { ChannelKeys } from "./keys.ts";
import {
  CLI_SLUG,
  DEMO_SLUG,
  createCliChannel,
  createDemoChannel,
  demoKeysInForce,
} from "./installation/default-channels.ts";
import type { DemoKeys } from "./installation/default-channels.ts";
import { dropGarbage } from "./start/drop-garbage.ts";
import { greetingText } from "./start/greeting.ts";
import type { ConsoleGreeting } from "./start/greeting.ts";
import { watchForHangup } from "./start/hangup.ts";
import { isKeptByOthers } from "./start/kept-by-others.ts";
import { frontPageRoute } from "./http/front-page.ts";
import { metricsRoute } from "./http/metrics-route.ts";
import type { Exposition } from "./http/metrics-route.ts";
import { widgetRoute } from "./http/widget-route.ts";
import { loadWidgetScript, pinnedScript } from "./http/widget-script.ts";
import type { WidgetScript } from "./http/widget-script.ts";
import { keysFileOf, openKeysFile, withLocalOperator } from "./installation/keys-file.ts";
import type { GeneratedKeys } from "./installation/keys-file.ts";
import { createLocalOperator } from "./installation/local-operator.ts";
import { keptKeys } from "./installation/kept-keys.ts";
import { createHider, openLog } from "./log.ts";
import type { Log } from "./log.ts";
import { openDemoPage, openDemoServers } from "./start/open-demo.ts";
import { countWaiting } from "./operators/count-waiting.ts";
import { createMetrics } from "./metrics/metrics.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { openInspector } from "./start/open-inspector.ts";
import { openMetricsPort } from "./start/open-metrics-port.ts";
import { openModel } from "./installation/open-model.ts";
import { readProviders, secretsOfProviders } from "./installation/providers-file.ts";
import type { WrittenProviders } from "./installation/providers-file.ts";
import type { Secret } from "./secret.ts";
import { openStore } from "./installation/open-store.ts";
import { startService } from "./service.ts";
import type { Service } from "./service.ts";
import { joinSupervisor } from "./start/processes/member.ts";
import type { Member } from "./start/processes/member.ts";
import { supervise } from "./start/processes/supervise.ts";
import { watchForSignals } from "./start/signals.ts";
import { watchForUncaughtErrors } from "./start/uncaught-errors.ts";
import type { Store } from "./store.ts";
import { VERSION } from "./version.ts";

/** What has to be closed again; the last opened is closed first. */
type Closing = (() => unknown)[];

/**
 * The process: environment, lock, store, service, demo page, and the signals that end it. Resolves after an orderly stop;
 * rejects with one line for people if the start failed.
 *
 * With PROCESSES it starts others that do so, and looks after them; each of those is told the port of all, `memberOn`.
 */
export async function serve(memberOn: number | null): Promise<void> {
  const closing: Closing = [];
  const member = memberOn === null ? null : joinSupervisor();
  let hide = createHider([]);
  try {
    const config = memberOn === null ? readConfig() : { ...readConfig(), port: memberOn };
    hide = createHider(secretsOf(config));
    if (member === null && config.processes !== null)
      return await superviseProcesses(config, config.processes);
    const providers = await readProviders(config, readVariable);
    const secrets = [...secretsOf(config), ...secretsOfProviders(providers)];
    hide = createHider(secrets);
    const signals = member?.signals ?? watchForSignals();
    closing.push(() => signals.stop());
    const log = await openLog({
      level: config.logLevel,
      secrets,
      ...(member ? { process: member.number } : {}),
    });
    log.info({ version: VERSION }, "Starting");
    const hangup = member === null ? watchForHangup() : null;
    closing.push(() => hangup?.stop());
    hangup?.onAsked(() =>
      log.warn("SIGHUP restarts processes one by one where PROCESSES is set: nothing is done"),
    );
    const running = await start({ config, providers, secrets, member, log, closing });

    const signal = await signals.first;
    if (signal === "retire" && member !== null) {
      const retired = running.retire(member.hurry);
      log.info("Retiring: another process has taken this one's place");
      await retired;
    } else {
      log.info(
        { signal, graceMs: config.shutdownGraceMs },
        "Stopping: open streams have the grace to end; a second signal ends at once",
      );
    }
    await running.stop();
    log.info("Stopped");
  } catch (error) {
    const failure = hide(startFailure(error));
    await member?.failed(failure);
    throw new Error(failure, { cause: error });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** PROCESSES: the process that starts the others, and serves nobody itself. */
async function superviseProcesses(config: Config, count: number): Promise<void> {
  const signals = watchForSignals();
  const hangup = watchForHangup();
  const log = await openLog({ level: config.logLevel, secrets: secretsOf(config) });
  log.info({ version: VERSION, processes: count }, "Starting");
  try {
    await supervise({ count, config, log, signals, hangup, say: (text) => void process.stderr.write(text) });
    log.info("Stopped");
  } finally {
    signals.stop();
    hangup.stop();
  }
}

interface Running {
  stop(): Promise<void>;
  /** Resolves when no run is left here, or somebody is in a hurry. */
  retire(hurry: AbortSignal): Promise<void>;
}

/** Everything up to the greeting, one step after the other. Returns how to stop. */
async function start(started: {
  config: Config;
  providers: WrittenProviders;
  secrets: Secret[];
  member: Member | null;
  log: Log;
  closing: Closing;
}): Promise<Running> {
  const { config, providers, secrets, member, log, closing } = started;
  for (const warning of warningsOf(config)) log.warn(warning);
  const { channelsFile } = config;
  const written = channelsFile === null ? null : await readChannelsFile(channelsFile, readVariable);
  if (written !== null) mustTell(written, { ...config, variable: readVariable });
  if (config.redisUrls.length === 0) {
    const { lockDataDir } = await import("./stores/embedded/data-dir-lock.ts");
    closing.push(await lockDataDir(config.dataDir));
  }
  const generated = config.harnessApiKey === null || config.demo ? openKeysFile(config.dataDir) : null;
  const uncaught = watchForUncaughtErrors(log);
  closing.push(() => uncaught.stop());

  const metrics = await createMetrics();
  const shared = member?.shareMetrics(metrics);
  closing.push(() => shared?.stop());
  const exposition = shared ?? metrics;
  const store = await openTimedStore({ config, log, metrics, closing });
  await writeChannels(store, log, written);
  const localKey = written === null && config.console ? await localOperatorKey(store, config) : null;
  for (const warning of (await store.health()).warnings) log.warn(warning);
  const model = metrics.timeModel(
    await openModel(config, { written: providers, log, onCall: metrics.onModelCall }),
  );
  closing.push(() => model.close());

  const harnessApiKey = transportKey(config, generated);
  const keyDoor = createKeyDoor({ config, clock: systemClock, log });
  const inspector = config.inspector
    ? openInspector({ transportKey: harnessApiKey, keyDoor, secrets, store, log })
    : null;
  const demoServers = await openDemoServers(defaultSlugs(config));
  closing.push(() => demoServers.close());
  let demo: Awaited<ReturnType<typeof openDemo>> = null;
  const widget = await loadWidget(log);
  const besideTheApi = [
    frontPageRoute(() => ({
      demoUrl: demo?.url ?? null,
      hasInspector: inspector !== null,
      hasConsole: config.console,
      script: widget === null ? null : pinnedScript(widget),
    })),
    ...(widget === null ? [] : [widgetRoute(widget)]),
    metricsRoute(exposition, { transportKeys: [harnessApiKey, ...config.olderApiKeys], keyDoor }),
  ];
  const service = await startService({
    config,
    harnessApiKey,
    keyDoor,
    store,
    model,
    clock: systemClock,
    log,
    ownServers: { ...demoServers.servers, ...written?.processServers },
    observer: metrics.observer,
    onAnswered: metrics.onAnswered,
    onMcpRequest: metrics.onMcpRequest,
    keepKeys: keptKeys(config.dataDir),
    onSpent: metrics.onSpent,
    isShared: member !== null,
    extraRoutes: (threads) => [...besideTheApi, ...(inspector?.routes(threads) ?? [])],
  });
  closing.push(() => service.stop(0));
  await showMetrics({ config, metrics, exposition, service, closing });
  demo =
    config.demo && generated !== null
      ? await openDemo({ config, service, keys: generated.demo, log, closing })
      : null;
  if (demo === null && written === null) await warnOfOldDemo(store, log);

  await dropGarbage().catch((error: unknown) => log.debug({ err: error }, "Cannot drop the start's garbage"));
  const { url, listener } = service;
  const demoUrl = demo?.url;
  const told = { url, demoUrl, listener, store: store.kind, model: model.kind, answers: model.answers };
  const greeting = greetingText({
    url,
    demoUrl: demoUrl ?? null,
    isDemoHeldBack: config.isDemoHeldBack,
    inspectorUrl: inspector?.linkOf(url) ?? null,
    console: config.console ? consoleGreeting(url, localKey, config) : null,
    model: model.kind,
    answers: model.answers ?? [],
    generatedKey: config.harnessApiKey === null ? harnessApiKey : null,
    demoKeys: demo?.keys ?? null,
    channel: await firstChannel(store),
    keysFile: isStderrKeptByOthers(member) ? keysFileOf(config.dataDir) : null,
  });
  if (member === null) {
    log.info(told, "Listening");
    process.stderr.write(greeting);
  } else {
    log.info({ listener }, "Listening with the others");
    member.listening(told, greeting);
  }
  return {
    retire: (hurry) => service.retire(config.runTimeoutMs + config.shutdownGraceMs, hurry),
    stop() {
      inspector?.close();
      return service.stop(config.shutdownGraceMs);
    },
  };
}

/** The key of the operator `local`; null where it is another start's, on the same store. */
async function localOperatorKey(store: Store, config: Config): Promise<Secret | null> {
  const { localOperator } = withLocalOperator(config.dataDir);
  return (await createLocalOperator(store, localOperator)) ? localOperator : null;
}

/** The link with the key for who started it by hand; what else is printed may be kept by anybody. */
function consoleGreeting(url: string, key: Secret | null, { dataDir }: Config): ConsoleGreeting {
  const page = `${url}/console`;
  if (key === null) return { url: page, key: null };
  if (process.stderr.isTTY) return { url: page, key: { type: "link", key } };
  return { url: page, key: { type: "kept", path: keysFileOf(dataDir) } };
}

function isStderrKeptByOthers(member: Member | null): boolean {
  return isKeptByOthers({
    isTerminal: process.stderr.isTTY,
    // What a member tells is printed by its supervisor.
    pid: member === null ? process.pid : process.ppid,
    journalStream: readVariable("JOURNAL_STREAM")?.reveal(),
    stat: () => fstatSync(process.stderr.fd),
  });
}

async function openTimedStore(options: {
  config: Config;
  log: Log;
  metrics: Metrics;
  closing: Closing;
}): Promise<Store> {
  const { config, log, metrics, closing } = options;
  const store = await openStore({ config, clock: systemClock, log, onCommand: metrics.onCommand });
  closing.push(() => store.close());
  return metrics.timeStore(store);
}

/** What only a running service can measure, and METRICS_PORT. */
async function showMetrics(options: {
  config: Config;
  metrics: Metrics;
  exposition: Exposition;
  service: Service;
  closing: Closing;
}): Promise<void> {
  const { config, metrics, exposition, service, closing } = options;
  metrics.watch({
    openStreams: () => service.inFlight(),
    threadsHeld: () => service.threads.held(),
    repliesWaiting: () => service.threads.waiting(),
    openFeeds: () => service.threads.feeds(),
    waitingForPerson: () => countWaiting(service.store),
  });
  if (config.metricsPort === null) return;
  const port = await openMetricsPort(exposition, { host: config.host, port: config.metricsPort });
  closing.push(() => port.close());
}

/** An earlier start may have made the demo's channel in this store, where it was meant for one machine. */
async function warnOfOldDemo(store: Store, log: Log): Promise<void> {
  const isThere = (await store.channels()).some(({ slug, enabled }) => slug === DEMO_SLUG && enabled);
  if (isThere)
    log.warn(
      "The channel demo of an earlier start is still enabled: chat-agent channels disable demo ends it",
    );
}

/** The demo page and its channel; null if the channel was changed to a transport channel. */
async function openDemo(options: {
  config: Config;
  service: Service;
  keys: ChannelKeys;
  log: Log;
  closing: Closing;
}): Promise<{ url: string; keys: DemoKeys } | null> {
  const { config, service, keys: ownKeys, log, closing } = options;
  const keys = await demoKeysInForce(service.store, ownKeys);
  if (keys === null) return null;
  const page = await openDemoPage({ config, serviceUrl: service.url, keys });
  closing.push(() => page.close());
  const ended = await createDemoChannel(service.store, { keys: ownKeys, origins: page.origins });
  if (ended.length > 0)
    log.warn({ ended }, "The demo page's origins took the place of an earlier start's in channel demo");
  await service.directory.renew();
  return { url: page.url, keys };
}

/** The browser element. If it was not built (`npm run build`), the rest of the service runs without it. */
async function loadWidget(log: Log): Promise<WidgetScript | null> {
  try {
    return await loadWidgetScript();
  } catch (error) {
    log.warn({ err: error }, "Cannot serve the widget's script: it was not built");
    return null;
  }
}

async function writeChannels(store: Store, log: Log, written: WrittenChannels | null): Promise<void> {
  if (written === null) return createCliChannel(store);
  for (const line of await upsertChannels(store, written.channels)) log.warn(line);
}

/** The channels that this start makes itself. */
function defaultSlugs({ channelsFile, demo }: Config): string[] {
  return [...(channelsFile === null ? [CLI_SLUG] : []), ...(demo ? [DEMO_SLUG] : [])];
}

function transportKey(config: Config, generated: GeneratedKeys | null) {
  const key = config.harnessApiKey ?? generated?.harnessApiKey;
  if (key === undefined) throw new Error("Cannot start: there is no transport key");
  return key;
}

/** The channel of the line to paste: `cli`, or the first that is enabled. */
async function firstChannel(store: Store): Promise<string | null> {
  const enabled = (await store.channels(() => {}))
    .filter((channel) => channel.enabled)
    .map(({ slug }) => slug);
  return enabled.includes(CLI_SLUG) ? CLI_SLUG : (enabled[0] ?? null);
}

function startFailure(error: unknown): string {
  const text = messageOf(error);
  return (text.startsWith("Cannot ") ? text : `Cannot start: ${text}`).replaceAll("\n", " ");
}
