// For src/metrics/plain-numbers.ts
import * as promClient from "prom-client";
import { expect, test } from "vitest";
import { Counter, Histogram } from "../../src/metrics/plain-numbers.ts";

const times = { name: "seconds", help: "How long", labelNames: ["route", "status"] as const };
const counts = { name: "calls_total", help: "How many", labelNames: ["kind"] as const };
const bare = { name: "starts_total", help: "How often", labelNames: [] };
const BOUNDS = [0.1, 1, 10];

test("prom-client tells what was counted as it tells its own counters and histograms, summed over processes too", async () => {
  const [plain, own] = [new promClient.Registry(), new promClient.Registry()];
  const registers = [own];
  const pairs = {
    times: [
      new Histogram(times, BOUNDS, plain),
      new promClient.Histogram({ ...times, buckets: BOUNDS, registers }),
    ],
    counts: [new Counter(counts, plain), new promClient.Counter({ ...counts, registers })],
    bare: [new Counter(bare, plain), new promClient.Counter({ ...bare, registers })],
  } as const;
  for (const value of [0.05, 0.1, 0.11, 5, 10, 11]) {
    for (const status of [200, 429])
      for (const one of pairs.times) one.observe({ route: 'a"b', status }, value * (status / 200));
    for (const one of pairs.counts) one.inc({ kind: `k${Math.floor(value)}` }, value);
  }
  expect(await plain.metrics()).toBe(await own.metrics());

  const summed = async (registry: promClient.Registry) => {
    const sample = await registry.getMetricsAsJSON();
    return promClient.AggregatorRegistry.aggregate([sample, sample]).metrics();
  };
  expect(await summed(plain)).toBe(await summed(own));
  expect(await summed(plain)).toContain('calls_total{kind="k10"} 20');
});
