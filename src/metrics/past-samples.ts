import type { Sample, SampledMetric, SampledValue } from "./sample.ts";

/** Metrics that only grow: they must not shrink when the process that counted them ends. */
const GROWING: ReadonlySet<unknown> = new Set(["counter", "histogram"]);

/** The summed counts of ended processes: without them, replacing a process would set the counters back. */
export class PastSamples {
  readonly #metrics = new Map<string, { metric: SampledMetric; values: Map<string, SampledValue> }>();

  add(sample: Sample): void {
    for (const metric of sample) {
      if (!GROWING.has(metric.type)) continue;
      const known = this.#metrics.get(metric.name) ?? { metric, values: new Map<string, SampledValue>() };
      this.#metrics.set(metric.name, known);
      for (const value of metric.values) addValue(known.values, value);
    }
  }

  /** In the form of one more process's sample. */
  sample(): Sample {
    return [...this.#metrics.values()].map(({ metric, values }) => ({
      ...metric,
      values: [...values.values()],
    }));
  }
}

function addValue(values: Map<string, SampledValue>, { value, ...named }: SampledValue): void {
  const labels = Object.entries(named.labels).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify([named.metricName, labels]);
  const before = values.get(key)?.value ?? 0;
  values.set(key, { ...named, value: before + value });
}
