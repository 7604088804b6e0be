import { createKeyDoor } from "../admission/key-door.ts";
import { systemClock, systemTimers } from "../clock.ts";
import { environment, isNamed } from "../config.ts";
import type { Config } from "../config.ts";
import { unknownNamesOf, warningsOf } from "../config/warnings.ts";
import type { WrittenChannels } from "../installation/channels-file.ts";
import { CLI_SLUG, DEMO_SLUG } from "../installation/default-channels.ts";
import { keptKeys } from "../installation/kept-keys.ts";
import { openKeysFile, withLocalOperator } from "../installation/keys-file.ts";
import type { GeneratedKeys } from "../installation/keys-file.ts";
import { createLocalOperator } from "../installation/local-operator.ts";
import type { WrittenProviders } from "../installation/providers-file.ts";
import type { Secret } from "../secret.ts";
import { startService } from "../service.ts";
import type { Service } from "../service.ts";
import type { Store } from "../store.ts";
import {
  defaultSlugs,
  lostOf,
  mustMeanTheDemo,
  readWrittenChannels,
  warnOfOldDemo,
  writeChannels,
} from "./channels.ts";
import { dropGarbage } from "./drop-garbage.ts";
import { keepChannels } from "./keep-channels.ts";
import { openDemo, openDemoServers } from "./open-demo.ts";
import type { Demo } from "./open-demo.ts";
import { lockEmbeddedStore, openResources } from "./open-resources.ts";
import type { Resources } from "./open-resources.ts";
import { routesBeside } from "./routes-beside.ts";
import { showMetrics } from "./show-metrics.ts";
import type { Starting } from "./starting.ts";
import { tellListening } from "./tell-listening.ts";
import { watchForUncaughtErrors } from "./uncaught-errors.ts";

export interface Running {
  stop(): Promise<void>;
  /** Resolves when no run is left here, or `hurry` is aborted. */
  retire(hurry: AbortSignal): Promise<void>;
}

/**
 * Everything up to the greeting, one step after the other. Returns functions that stop it. Rejects if a step fails; what
 * was opened by then is in `closing`.
 */
export async function start(starting: Starting, providers: WrittenProviders): Promise<Running> {
  const { config, log, closing } = starting;
  for (const warning of warningsOf(config)) log.warn(warning);
  const written = await readWrittenChannels(config);
  for (const warning of unknownNamesOf(environment(), isNamed)) log.warn(warning);
  mustMeanTheDemo(config, written, providers.providers.length > 0);
  const door = await lockEmbeddedStore(config);
  closing.push(() => door?.release());
  const generated = config.harnessApiKey === null || config.demo ? openKeysFile(config.dataDir) : null;
  const transportKey = transportKeyOf(config, generated);
  const uncaught = watchForUncaughtErrors(log);
  closing.push(() => uncaught.stop());

  const resources = await openResources(starting, providers);
  const { store } = resources;
  const away = new Set<string>();
  await writeChannels(store, log, written, (slug) => away.add(slug));
  if (away.size > 0)
    log.warn(
      { channels: [...away] },
      "Cannot write channels: their part of the store does not answer; they are written when it does",
    );
  const localKey = written === null && config.console ? await localOperatorKey(store, config) : null;
  for (const warning of (await store.health()).warnings) log.warn(warning);

  let demo: Demo | null = null;
  let isStarting = true;
  const service = await openService(starting, {
    resources,
    transportKey,
    written,
    demoUrl: () => demo?.url ?? null,
    isStarting: () => isStarting,
  });
  door?.open(service.commandLine);
  closing.push(() => door?.shut());
  await showMetrics(starting, resources, service);
  if (config.demo && generated !== null)
    demo = await openDemo(starting, { service, ownKeys: generated.demo });
  if (demo === null && written === null) await warnOfOldDemo(store, log);
  closing.push(keepStartsChannels(starting, { service, written, away, demo, localKey }));

  await dropGarbage().catch((error: unknown) => log.debug({ err: error }, "Cannot drop the start's garbage"));
  isStarting = false;
  await tellListening(starting, { service, resources, demo, transportKey, localKey });
  return {
    retire: (hurry) => service.retire(config.runTimeoutMs + config.shutdownGraceMs, hurry),
    stop: () => service.stop(config.shutdownGraceMs),
  };
}

/** The service on its port, with the demo's own MCP servers and the routes beside the API. */
async function openService(
  { config, member, log, closing }: Starting,
  given: {
    resources: Resources;
    transportKey: Secret;
    written: WrittenChannels | null;
    /** Known when the service is there. */
    demoUrl: () => string | null;
    isStarting: () => boolean;
  },
): Promise<Service> {
  const { transportKey, written, demoUrl, isStarting } = given;
  const { metrics, exposition, store, model, traced } = given.resources;
  const keyDoor = createKeyDoor({ config, clock: systemClock, log });
  const beside = await routesBeside({
    config,
    log,
    keyDoor,
    transportKey,
    exposition,
    demoUrl,
  });
  const demoServers = await openDemoServers(defaultSlugs(config));
  closing.push(() => demoServers.close());
  const service = await startService({
    config,
    harnessApiKey: transportKey,
    keyDoor,
    store,
    model,
    clock: systemClock,
    log,
    ownServers: new Map([...demoServers.servers, ...(written?.processServers ?? [])]),
    ...(written ? { namedServers: written.namedServers, namedVariables: written.variables } : {}),
    observer: metrics.observer,
    onAnswered: metrics.onAnswered,
    onMcpRequest: metrics.onMcpRequest,
    keepKeys: keptKeys(config.dataDir),
    onSpent: metrics.onSpent,
    onWebhook: metrics.onWebhook,
    retentionProgress: metrics.retentionProgress,
    isStarting,
    isShared: member !== null,
    ...traced,
    extraRoutes: beside,
  });
  closing.push(() => service.stop(0));
  return service;
}

/** Keeps the channels that this start wrote in the store, while it runs. */
function keepStartsChannels(
  { log }: Starting,
  made: {
    service: Service;
    written: WrittenChannels | null;
    away: Set<string>;
    demo: Demo | null;
    localKey: Secret | null;
  },
): () => void {
  const { service, written, away, demo, localKey } = made;
  const { store, directory } = service;
  const makeDemo = demo?.makeChannel ?? null;
  const own = [CLI_SLUG, ...(makeDemo === null ? [] : [DEMO_SLUG])];
  return keepChannels({
    store,
    directory,
    slugs: written?.channels.map(({ slug }) => slug) ?? own,
    away,
    async write(lost) {
      await writeChannels(store, log, written && lostOf(written, lost));
      if (lost.has(DEMO_SLUG)) await makeDemo?.();
      if (localKey !== null) await createLocalOperator(store, localKey);
    },
    timers: systemTimers,
    log,
  });
}

/** The key of the operator `local`; null if another start created it in the same store. */
async function localOperatorKey(store: Store, config: Config): Promise<Secret | null> {
  const { localOperator } = withLocalOperator(config.dataDir);
  return (await createLocalOperator(store, localOperator)) ? localOperator : null;
}

function transportKeyOf(config: Config, generated: GeneratedKeys | null): Secret {
  const key = config.harnessApiKey ?? generated?.harnessApiKey;
  if (key === undefined) throw new Error("Cannot start: there is no transport key");
  return key;
}
