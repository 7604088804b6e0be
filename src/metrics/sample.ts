/** Metrics as prom-client's `getMetricsAsJSON` gives them: what one process of several tells the others of its own. */
export type Sample = SampledMetric[];

export interface SampledMetric {
  name: string;
  type: unknown;
  values: SampledValue[];
}

export interface SampledValue {
  value: number;
  labels: Record<string, unknown>;
  /** Of a histogram, whose values have three names. */
  metricName?: string;
}
