/** Metrics as returned by prom-client's `getMetricsAsJSON`, in which several processes share theirs. */
export type Sample = SampledMetric[];

export interface SampledMetric {
  name: string;
  type: unknown;
  values: SampledValue[];
}

export interface SampledValue {
  value: number;
  labels: Record<string, unknown>;
  /** Only for a histogram, whose values have three names. */
  metricName?: string;
}
