import { fstatSync } from "node:fs";
import { createKeyDoor } from "./admission/key-door.ts";
import { readChannelsFile, upsertChannels } from "./installation/channels-file.ts";
import type { WrittenChannels } from "./installation/channels-file.ts";
import { systemClock } from "./clock.ts";
import { readConfig, readVariable, secretsOf, warningsOf } from "./config.ts";
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
import { isKeptByOthers } from "./start/kept-by-others.ts";
import { frontPageRoute } from "./http/front-page.ts";
import { metricsRoute } from "./http/metrics-route.ts";
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
import { watchForSignals } from "./start/signals.ts";
import { watchForUncaughtErrors } from "./start/uncaught-errors.ts";
import type { Store } from "./store.ts";
import { VERSION } from "./version.ts";

/** What has to be closed again; the last opened is closed first. */
type Closing = (() => unknown)[];

/**
 * The process: environment, lock, store, service, demo page, and the signals that end it. Resolves after an orderly stop;
 * rejects with one line for people if the start failed.
 */
export async function serve(): Promise<void> {
  const closing: Closing = [];
  let hide = createHider([]);
  try {
    const config = readConfig();
    hide = createHider(secretsOf(config));
    const providers = await readProviders(config, readVariable);
    const secrets = [...secretsOf(config), ...secretsOfProviders(providers)];
    hide = createHider(secrets);
    const signals = watchForSignals();
    closing.push(() => signals.stop());
    const log = await openLog({ level: config.logLevel, secrets });
    log.info({ version: VERSION }, "Starting");
    const stop = await start({ config, providers, secrets, log, closing });

    const signal = await signals.first;
    log.info(
      { signal, graceMs: config.shutdownGraceMs },
      "Stopping: open streams have the grace to end; a second signal ends at once",
    );
    await stop();
    log.info("Stopped");
  } catch (error) {
    throw new Error(hide(startFailure(error)), { cause: error });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Everything up to the greeting, one step after the other. Returns how to stop. */
async function start(started: {
  config: Config;
  providers: WrittenProviders;
  secrets: Secret[];
  log: Log;
  closing: Closing;
}): Promise<() => Promise<void>> {
  const { config, providers, secrets, log, closing } = started;
  for (const warning of warningsOf(config)) log.warn(warning);
  const { channelsFile } = config;
  const written = channelsFile === null ? null : await readChannelsFile(channelsFile, readVariable);
  if (config.redisUrls.length === 0) {
    const { lockDataDir } = await import("./stores/embedded/data-dir-lock.ts");
    closing.push(await lockDataDir(config.dataDir));
  }
  const generated = config.harnessApiKey === null || config.demo ? openKeysFile(config.dataDir) : null;
  const uncaught = watchForUncaughtErrors(log);
  closing.push(() => uncaught.stop());

  const metrics = await createMetrics();
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
    metricsRoute(metrics, { transportKeys: [harnessApiKey, ...config.olderApiKeys], keyDoor }),
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
    extraRoutes: (threads) => [...besideTheApi, ...(inspector?.routes(threads) ?? [])],
  });
  closing.push(() => service.stop(0));
  await showMetrics({ config, metrics, service, closing });
  demo =
    config.demo && generated !== null
      ? await openDemo({ config, service, keys: generated.demo, log, closing })
      : null;
  if (demo === null && written === null) await warnOfOldDemo(store, log);

  await dropGarbage().catch((error: unknown) => log.debug({ err: error }, "Cannot drop the start's garbage"));
  const { url, listener } = service;
  const demoUrl = demo?.url;
  log.info(
    { url, demoUrl, listener, store: store.kind, model: model.kind, answers: model.answers },
    "Listening",
  );
  process.stderr.write(
    greetingText({
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
      keysFile: isStderrKeptByOthers() ? keysFileOf(config.dataDir) : null,
    }),
  );
  return () => {
    inspector?.close();
    return service.stop(config.shutdownGraceMs);
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

function isStderrKeptByOthers(): boolean {
  return isKeptByOthers({
    isTerminal: process.stderr.isTTY,
    pid: process.pid,
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
  service: Service;
  closing: Closing;
}): Promise<void> {
  const { config, metrics, service, closing } = options;
  metrics.watch({
    openStreams: () => service.inFlight(),
    threadsHeld: () => service.threads.held(),
    repliesWaiting: () => service.threads.waiting(),
  });
  if (config.metricsPort === null) return;
  const port = await openMetricsPort(metrics, { host: config.host, port: config.metricsPort });
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
