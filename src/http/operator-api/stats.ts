import { z } from "zod";
import { isDay } from "../../domain/day.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import { csvOf, peopleReport } from "../../operators/stats/people-report.ts";
import { readStats, statDays } from "../../operators/stats/stats.ts";
import type { Store } from "../../store.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import { existingChannel } from "./admit.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

const count = z.int();
const wait = z
  .int()
  .nullable()
  .describe("From a message to the first text of its reply; null: nobody waited");

const statSchema = z.object({
  day: z.string().describe("A UTC day"),
  visitors: count.describe("Users who spoke; on Redis an estimate"),
  messages: count.describe("What users said"),
  runs: z
    .object({ done: count, failed: count, cancelled: count, expired: count, superseded: count })
    .describe("By how they ended"),
  inputTokens: count,
  outputTokens: count,
  handoffs: count,
  waitMsP50: wait,
  waitMsP90: wait,
  thumbsUp: count,
  thumbsDown: count,
  ratings: count
    .exactOptional()
    .describe("Visitors who said what they think of how a person helped; absent: nobody did"),
  csat: z.number().exactOptional().describe("Their mean, from 1 to 5"),
  costs: z
    .record(z.string(), z.number())
    .exactOptional()
    .describe(
      "What the models cost, by currency, at the prices that PROVIDERS_FILE had then; absent: it had none for them",
    ),
});

const EXAMPLE = {
  day: "2026-11-22",
  visitors: 310,
  messages: 1_204,
  runs: { done: 1_180, failed: 4, cancelled: 12, expired: 3, superseded: 5 },
  inputTokens: 1_820_000,
  outputTokens: 96_000,
  handoffs: 0,
  waitMsP50: 640,
  waitMsP90: 2_150,
  thumbsUp: 0,
  thumbsDown: 0,
  ratings: 4,
  csat: 4.5,
  costs: { USD: 0.65 },
};

const rowSchema = z.object({
  queue: z.string().nullable().describe("null: none was named"),
  operator: z.string().nullable().describe("null: what nobody had taken"),
  asked: count,
  taken: count.describe("Of those that waited"),
  missed: count.describe("Nobody came in time"),
  unanswered: count.describe("Taken, and left without an answer for too long"),
  ended: count.describe("Given back or closed"),
  waitMsP50: count.nullable().describe("From the question for a person to the person; null: none was taken"),
  waitMsP90: count.nullable(),
  tookMsP50: count.nullable().describe("From the question for a person to the end; null: none has ended"),
  tookMsP90: count.nullable(),
  ratings: count,
  csat: z.number().nullable(),
});

const ROW: z.infer<typeof rowSchema> = {
  queue: "returns",
  operator: "kim",
  asked: 0,
  taken: 40,
  missed: 0,
  unanswered: 1,
  ended: 39,
  waitMsP50: 45_000,
  waitMsP90: 210_000,
  tookMsP50: 340_000,
  tookMsP90: 1_300_000,
  ratings: 12,
  csat: 4.58,
};

const dayField = (description: string, example: string) => ({
  description,
  schema: z.string().refine(isDay).nullable().default(null),
  shown: z.string(),
  example,
});

const DAYS = {
  channel: {
    description: "Only of this channel",
    example: "shop",
  },
  from: dayField("The first day; 30 days in all without it", "2026-11-01"),
  to: dayField("The last day; today without it", "2026-11-22"),
};

/** GET /v1/operator/stats: counts, day by day; …/reports/people: how hand-offs went, by operator and queue. */
export function statsEndpoints({ store, clock }: Pick<OperatorApi, "store" | "clock">) {
  return [statsEndpoint({ store, clock }), peopleEndpoint({ store, clock })];
}

function peopleEndpoint({ store, clock }: Pick<OperatorApi, "store" | "clock">) {
  return endpoint({
    method: "GET",
    path: "/v1/operator/reports/people",
    credential: "operatorKey",
    roles: EVERY_ROLE,
    summary: "How hand-offs went, by operator and queue",
    description:
      "Of these days together, of one channel or of all that the operator sees. Times are off by 5 % at most; counted as the statistics are. `format=csv`: the same as a file for spreadsheets.",
    query: {
      ...DAYS,
      format: {
        description: "csv: comma-separated, with the names of the fields in the first line",
        schema: z.enum(["json", "csv"]).nullable().default(null),
        example: "json",
      },
    },
    answers: { 200: documentedJson("The rows", z.object({ items: z.array(rowSchema) }), { items: [ROW] }) },
    refusals: { "not-found": "Unknown channel" },
    async handle({ caller, query: { channel, format, ...asked } }) {
      const slugs = await channelsOf(store, caller, channel);
      const days = statDays(asked, clock.now());
      const rows = await peopleReport(store, slugs, days);
      if (format !== "csv") return jsonAnswer(200, { items: rows });
      return {
        status: 200,
        headers: {
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": `attachment; filename="people-${days.from}-${days.to}.csv"`,
          "cache-control": "no-store",
        },
        body: csvOf(rows),
      };
    },
  });
}

function statsEndpoint({ store, clock }: Pick<OperatorApi, "store" | "clock">) {
  return endpoint({
    method: "GET",
    path: "/v1/operator/stats",
    credential: "operatorKey",
    roles: EVERY_ROLE,
    summary: "What happened, day by day",
    description:
      "One item for each UTC day, oldest first, of one channel or of all that the operator sees together. Kept for 400 days; right within 5 s, and a process that is killed loses what it counted in the last second.",
    query: DAYS,
    answers: {
      200: documentedJson("The days", z.object({ items: z.array(statSchema) }), { items: [EXAMPLE] }),
    },
    refusals: { "not-found": "Unknown channel" },
    async handle({ caller, query: { channel, ...asked } }) {
      const slugs = await channelsOf(store, caller, channel);
      const days = statDays(asked, clock.now());
      return jsonAnswer(200, { items: await readStats(store, slugs, days) });
    },
  });
}

async function channelsOf(
  store: Pick<Store, "channel" | "channels">,
  operator: Operator,
  slug: string | null,
): Promise<string[]> {
  if (slug === null) {
    const all = await store.channels(() => {});
    return all.map((one) => one.slug).filter((one) => seesChannel(operator, one));
  }
  if (!seesChannel(operator, slug)) throw new Refusal("forbidden");
  return [(await existingChannel(store, slug)).slug];
}
