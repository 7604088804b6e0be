// For src/deploy/, src/metrics/
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Registry } from "prom-client";
import * as promClient from "prom-client";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { createInstruments } from "../../src/metrics/instruments.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { pathOfCommand } from "../support/programs.ts";
import { namedIn } from "./promql.ts";

const folder = fileURLToPath(new URL("../../src/deploy/monitoring/", import.meta.url));
const textOf = (file: string) => readFileSync(folder + file, "utf8");

const rules = z
  .object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            for: z.string().optional(),
            labels: z.object({ severity: z.enum(["page", "ticket"]) }),
            annotations: z.object({ summary: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(textOf("alerts.yaml")))
  .groups.flatMap((group) => group.rules);

const dashboard = z
  .object({
    panels: z.array(
      z.object({
        title: z.string(),
        targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
      }),
    ),
  })
  .parse(JSON.parse(textOf("dashboard.json")));

/** Grafana's own variables, as it puts values in their place. */
const plotted = dashboard.panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m").replaceAll("$channel", ".*")),
);
const expressions = [...rules.map(({ expr }) => expr), ...plotted];

/** What a service's `/metrics` answers before anything has happened, with one channel that has webhooks. */
async function metricsText(): Promise<string> {
  const metrics = await createMetrics();
  metrics.watch({
    openStreams: () => 0,
    threadsHeld: () => 0,
    repliesWaiting: () => 0,
    openFeeds: () => 0,
    modelNotes: () => [],
    lostLines: () => 0,
    waitingForPerson: () => Promise.resolve(0),
    withPerson: () => Promise.resolve(0),
    messengers: async () => [],
    webhooks: () => Promise.resolve([{ channel: "shop", waiting: 1, oldestMs: 1, off: 0 }]),
  });
  return metrics.text();
}

/** Every series that it tells, by the types that it declares. */
async function toldSeries(): Promise<Set<string>> {
  const declared = (await metricsText()).matchAll(/^# TYPE (\S+) (\S+)$/gm);
  const series = [...declared].flatMap(([, name = "", type]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
  return new Set(series);
}

/** Of `chat_agent_…`; Prometheus adds `job` and `instance`, and a histogram's buckets have `le`. */
async function labelsOf(): Promise<Map<string, readonly string[]>> {
  const instruments = Object.values(createInstruments(promClient, new Registry()));
  const known = z.object({ name: z.string(), labelNames: z.array(z.string()) });
  const counted = instruments.map((one) => known.parse(one));
  const levels = [...(await metricsText()).matchAll(/^(chat_agent_webhooks_\w+)\{(\w+)=/gm)];
  return new Map<string, readonly string[]>([
    ...counted.map(({ name, labelNames }) => [name, labelNames] as const),
    ...levels.map(([, name = "", label = ""]) => [name, [label]] as const),
  ]);
}

test("every metric of the alerts and the dashboard is one that /metrics tells", async () => {
  const told = await toldSeries();
  const named = expressions.flatMap((expression) => namedIn(expression).metrics);
  expect(named.length).toBeGreaterThan(40);
  // Prometheus' own: whether the scrape went well.
  expect(named.filter((name) => name !== "up" && !told.has(name))).toEqual([]);
});

test("every label that they match or group by is one of its metric", async () => {
  const labels = await labelsOf();
  const own = (name: string) => [
    ...(labels.get(name) ?? labels.get(name.replace(/_(bucket|sum|count)$/, "")) ?? []),
    ...(name.endsWith("_bucket") ? ["le"] : []),
    "job",
    "instance",
  ];
  const strange = expressions.flatMap((expression) =>
    namedIn(expression).labels.flatMap(({ label, of }) =>
      of.filter((name) => !own(name).includes(label)).map((name) => `${name} has no ${label}`),
    ),
  );
  expect(strange).toEqual([]);
  expect(expressions.flatMap((expression) => namedIn(expression).labels).length).toBeGreaterThan(20);
});

test("a metric that is not told, a label that it has not, and half an expression would be found", () => {
  expect(namedIn('sum by (channel) (rate(chat_agent_runs{outcome="x"}[5m]))')).toEqual({
    metrics: ["chat_agent_runs"],
    labels: [
      { label: "channel", of: ["chat_agent_runs"] },
      { label: "outcome", of: ["chat_agent_runs"] },
    ],
  });
  expect(() => namedIn("sum(rate(up[5m]) > 1")).toThrow("Cannot parse");
});

test("what an alert's summary and a plot's legend tell of is a label that is left", () => {
  const told = [
    ...rules.map(({ expr, annotations }) => ({ expr, text: annotations.summary })),
    ...dashboard.panels.flatMap(({ targets }) =>
      targets.map(({ expr, legendFormat }) => ({ expr, text: legendFormat })),
    ),
  ];
  const lost = told.flatMap(({ expr, text }) => {
    const left = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */);
    const labels = [...text.matchAll(/\{\{ ?(?:\$labels\.)?([a-z]\w*) ?\}\}/g)].map(
      ([, label = ""]) => label,
    );
    // Without an aggregation every label is left.
    if (!/\b(sum|max)\b/.test(expr)) return [];
    return labels.filter((label) => !left?.includes(label)).map((label) => `${expr}: ${label}`);
  });
  expect(lost).toEqual([]);
});

test("every alert has its heading on the page, under how soon somebody is to look, and every heading its alert", () => {
  const page = textOf("README.md");
  const [, now = "", later = ""] = page.split(/^## Somebody looks .*$/m);
  const headings = (part: string) => [...part.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name);
  const named = (severity: string) =>
    rules.filter(({ labels }) => labels.severity === severity).map(({ alert }) => alert);
  expect(headings(now)).toEqual(named("page"));
  expect(headings(later)).toEqual(named("ticket"));
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

const promtool = pathOfCommand("promtool");
const missing = promtool === null ? " (skipped: no promtool, apt-get install -y prometheus)" : "";

test.skipIf(promtool === null)(`promtool takes the rules${missing}`, () => {
  const said = execFileSync(promtool ?? "", ["check", "rules", `${folder}alerts.yaml`], { encoding: "utf8" });
  expect(said).toContain(`${rules.length} rules found`);
});
