import type { Metrics } from "../../src/metrics/metrics.ts";

/** The value of one sample; null where there is none. */
export async function valueOf(metrics: Metrics | string, sample: string): Promise<number | null> {
  const text = typeof metrics === "string" ? metrics : await metrics.text();
  const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
  return line === undefined ? null : Number(line.slice(sample.length + 1));
}
