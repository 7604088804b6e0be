import { systemClock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Exposition } from "../http/metrics-route.ts";
import type { LocalDoor } from "../installation/local-door.ts";
import { openModel } from "../installation/open-model.ts";
import { openStore } from "../installation/open-store.ts";
import type { WrittenProviders } from "../installation/providers-file.ts";
import { createMetrics } from "../metrics/metrics.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Model } from "../model.ts";
import type { Store } from "../store.ts";
import type { Tracing } from "../trace.ts";
import { VERSION } from "../version.ts";
import type { Starting } from "./starting.ts";

/** The resources of a service: opened before it, and closed after it. */
export interface Resources {
  metrics: Metrics;
  /** The metrics of /metrics: of this process, or of all processes that share its port. */
  exposition: Exposition;
  /** The metrics time it, and the model. */
  store: Store;
  model: Model;
  /** Empty if no OTEL_EXPORTER_OTLP_ENDPOINT is set. */
  traced: { tracing?: Tracing };
}

/** Rejects with a sentence for people if a store or a provider cannot be opened. */
export async function openResources(starting: Starting, providers: WrittenProviders): Promise<Resources> {
  const { config, log, member, closing } = starting;
  const metrics = await createMetrics();
  const shared = member?.shareMetrics(metrics);
  closing.push(() => shared?.stop());

  const opened = await openStore({ config, clock: systemClock, log, onCommand: metrics.onCommand });
  closing.push(() => opened.close());
  const store = metrics.timeStore(opened);

  const traced = await openTraces(starting, { metrics, processId: store.processId });
  const model = metrics.timeModel(
    await openModel(config, {
      written: providers,
      log,
      onCall: metrics.onModelCall,
      onOdd: metrics.onOddAnswer,
      ...traced,
    }),
  );
  closing.push(() => model.close());
  return { metrics, exposition: shared ?? metrics, store, model, traced };
}

/**
 * The embedded store takes one process at a time: if another one has it, this start fails with one sentence. Commands ask at
 * its door; on Redis they work on the store themselves: null.
 */
export async function lockEmbeddedStore(config: Config): Promise<LocalDoor | null> {
  if (config.redisUrls.length > 0) return null;
  const { openLocalDoor } = await import("../installation/local-door.ts");
  return openLocalDoor(config.dataDir);
}

/** Without traces, OpenTelemetry's packages are not even loaded. */
async function openTraces(
  { config, closing }: Starting,
  { metrics, processId }: { metrics: Metrics; processId: string },
): Promise<{ tracing?: Tracing }> {
  const { tracing: settings } = config;
  if (settings === null) return {};
  const { openTracing } = await import("../traces/opentelemetry.ts");
  const tracing = await openTracing({ settings, version: VERSION, processId, onSpans: metrics.onSpans });
  closing.push(() => tracing.close());
  return { tracing };
}
