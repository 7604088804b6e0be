import { systemClock } from "../clock.ts";
import { countWaiting } from "../operators/stats/count-waiting.ts";
import { messengerLevels, webhookLevels } from "../operators/stats/queue-levels.ts";
import { countWithPerson } from "../operators/stats/count-with-person.ts";
import type { Service } from "../service.ts";
import { openMetricsPort } from "./open-metrics-port.ts";
import type { Resources } from "./open-resources.ts";
import type { Starting } from "./starting.ts";

/** Adds the metrics that only a running service can measure, and opens METRICS_PORT. */
export async function showMetrics(
  { config, lostLines, closing }: Starting,
  { metrics, exposition, model }: Resources,
  service: Service,
): Promise<void> {
  metrics.watch({
    openStreams: () => service.inFlight(),
    threadsHeld: () => service.threads.held(),
    repliesWaiting: () => service.threads.waiting(),
    lostLines,
    openFeeds: () => service.threads.feeds(),
    waitingForPerson: () => countWaiting(service.store),
    webhooks: () => webhookLevels(service.store, systemClock.now()),
    messengers: () => messengerLevels(service.store, systemClock.now()),
    modelNotes: () => model.notes?.() ?? [],
    withPerson: () =>
      countWithPerson(
        service.store,
        service.directory.channels().map(({ slug }) => slug),
      ),
  });
  if (config.metricsPort === null) return;
  const port = await openMetricsPort(exposition, { host: config.host, port: config.metricsPort });
  closing.push(() => port.close());
}
