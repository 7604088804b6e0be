import { countWaiting } from "../operators/count-waiting.ts";
import type { Service } from "../service.ts";
import { openMetricsPort } from "./open-metrics-port.ts";
import type { Resources } from "./open-resources.ts";
import type { Starting } from "./starting.ts";

/** What only a running service can measure, and METRICS_PORT. */
export async function showMetrics(
  { config, closing }: Starting,
  { metrics, exposition }: Resources,
  service: Service,
): Promise<void> {
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
