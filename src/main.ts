import { readChannelsFile, upsertChannels } from "./installation/channels-file.ts";
import type { WrittenChannels } from "./installation/channels-file.ts";
import { systemClock } from "./clock.ts";
import { readConfig, readVariable, secretsOf, warningsOf } from "./config.ts";
import type { Config } from "./config.ts";
import { messageOf } from "./errors.ts";
import { CLI_SLUG, createDefaultChannels, demoKeysInForce } from "./installation/default-channels.ts";
import { dropGarbage } from "./start/drop-garbage.ts";
import { watchForFaults } from "./start/faults.ts";
import { greetingText } from "./start/greeting.ts";
import { metricsRoute } from "./http/metrics-route.ts";
import type { Route } from "./http/route.ts";
import { widgetRoute } from "./http/widget-route.ts";
import { loadWidgetScript } from "./http/widget-script.ts";
import { openKeysFile } from "./installation/keys-file.ts";
import type { GeneratedKeys } from "./installation/keys-file.ts";
import { createHider, openLog } from "./log.ts";
import type { Log } from "./log.ts";
import { demoServers, openDemoPage } from "./start/open-demo.ts";
import { createMetrics } from "./metrics/metrics.ts";
import { openInspector } from "./start/open-inspector.ts";
import { openMetricsPort } from "./start/open-metrics-port.ts";
import { openModel } from "./start/open-model.ts";
import { openStore } from "./installation/open-store.ts";
import { startService } from "./service.ts";
import { watchForSignals } from "./start/signals.ts";
import type { Store } from "./store.ts";

/** What has to be closed again, last opened first. */
type Closing = (() => unknown)[];

/**
 * The process: environment, lock, store, service, demo page, and the signals that end it. Resolves after a stop that was
 * asked for; rejects with one line for people where the start failed.
 */
export async function serve(): Promise<void> {
  const closing: Closing = [];
  let hide = createHider([]);
  try {
    const config = readConfig();
    hide = createHider(secretsOf(config));
    const signals = watchForSignals();
    closing.push(() => signals.stop());
    const log = await openLog({ level: config.logLevel, secrets: secretsOf(config) });
    const stop = await start(config, log, closing);

    const signal = await signals.first;
    log.info({ signal, graceMs: config.shutdownGraceMs }, "Stopping: open streams have the grace to end");
    await stop();
    log.info("Stopped");
  } catch (error) {
    throw new Error(hide(startFailure(error)), { cause: error });
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** Everything up to the greeting; answers how to stop. */
async function start(config: Config, log: Log, closing: Closing): Promise<() => Promise<void>> {
  for (const warning of warningsOf(config)) log.warn(warning);
  const written =
    config.channelsFile === null
      ? null
      : await readChannelsFile(config.channelsFile, (name) => readVariable(name));
  if (config.redisUrls.length === 0) {
    const { lockDataDir } = await import("./stores/embedded/data-dir-lock.ts");
    closing.push(await lockDataDir(config.dataDir));
  }
  const generated = config.harnessApiKey === null || written === null ? openKeysFile(config.dataDir) : null;
  const faults = watchForFaults(log);
  closing.push(() => faults.stop());

  const metrics = await createMetrics();
  const store = metrics.timeStore(
    await openStore({ config, clock: systemClock, log, onCommand: metrics.onCommand }),
  );
  closing.push(() => store.close());
  await writeChannels(store, log, written);
  for (const warning of (await store.health()).warnings) log.warn(warning);
  const model = metrics.timeModel(await openModel(config));
  closing.push(() => model.close());

  const harnessApiKey = transportKey(config, generated);
  const inspector = config.inspector
    ? openInspector({ transportKey: harnessApiKey, secrets: secretsOf(config), store, log })
    : null;
  const besideTheApi = [...(await widgetRoutes(log)), metricsRoute(metrics, harnessApiKey)];
  const service = await startService({
    config,
    harnessApiKey,
    store,
    model,
    clock: systemClock,
    log,
    processServers: written?.processServers ?? demoServers(),
    observer: metrics.observer,
    onAnswered: metrics.onAnswered,
    extraRoutes: (threads) => [...besideTheApi, ...(inspector?.routes(threads) ?? [])],
  });
  closing.push(() => service.stop(0));
  metrics.watch({
    openStreams: () => service.inFlight(),
    threadsHeld: () => service.threads.held(),
    repliesWaiting: () => service.threads.waiting(),
  });
  if (config.metricsPort !== null) {
    const port = await openMetricsPort(metrics, { host: config.host, port: config.metricsPort });
    closing.push(() => port.close());
  }
  const ownKeys = written === null ? (generated?.demo ?? null) : null;
  const demoKeys = ownKeys === null ? null : await demoKeysInForce(store, ownKeys);
  const page =
    demoKeys === null ? null : await openDemoPage({ config, serviceUrl: service.url, keys: demoKeys });
  if (page !== null) closing.push(() => page.close());
  if (page !== null && ownKeys !== null) {
    await createDefaultChannels(store, { keys: ownKeys, origins: page.origins });
    await service.directory.renew();
  }

  await dropGarbage().catch((error: unknown) => log.debug({ err: error }, "Cannot drop the start's garbage"));
  const { url, listener } = service;
  log.info({ url, demoUrl: page?.url, listener, store: store.kind, model: model.kind }, "Listening");
  process.stderr.write(
    greetingText({
      url,
      demoUrl: page?.url ?? null,
      inspectorUrl: inspector?.linkOf(url) ?? null,
      model: model.kind,
      generatedKey: config.harnessApiKey === null ? (generated?.harnessApiKey ?? null) : null,
      demoKeys,
      channel: await firstChannel(store),
    }),
  );
  return () => {
    inspector?.close();
    return service.stop(config.shutdownGraceMs);
  };
}

/** The browser element; without it (it is built by `npm run build`) the rest of the service is as good as ever. */
async function widgetRoutes(log: Log): Promise<Route[]> {
  try {
    return [widgetRoute(await loadWidgetScript())];
  } catch (error) {
    log.warn({ err: error }, "Cannot serve the widget's script: it was not built");
    return [];
  }
}

async function writeChannels(store: Store, log: Log, written: WrittenChannels | null): Promise<void> {
  if (written === null) return createDefaultChannels(store, null);
  for (const line of await upsertChannels(store, written.channels)) log.warn(line);
}

function transportKey(config: Config, generated: GeneratedKeys | null) {
  const key = config.harnessApiKey ?? generated?.harnessApiKey;
  if (key === undefined) throw new Error("Cannot start: there is no transport key");
  return key;
}

/** The channel of the line to paste: `cli`, or the first that is enabled. */
async function firstChannel(store: Store): Promise<string | null> {
  const enabled = (await store.channels()).filter((channel) => channel.enabled).map(({ slug }) => slug);
  return enabled.includes(CLI_SLUG) ? CLI_SLUG : (enabled[0] ?? null);
}

function startFailure(error: unknown): string {
  const text = messageOf(error);
  return (text.startsWith("Cannot ") ? text : `Cannot start: ${text}`).replaceAll("\n", " ");
}
