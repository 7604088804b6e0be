import { z } from "zod";
import { isDay } from "../../domain/day.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
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
};

const dayField = (description: string, example: string) => ({
  description,
  schema: z.string().refine(isDay).nullable().default(null),
  shown: z.string(),
  example,
});

/** GET /v1/operator/stats: counts, day by day. */
export function statsEndpoint({ store, clock }: Pick<OperatorApi, "store" | "clock">) {
  return endpoint({
    method: "GET",
    path: "/v1/operator/stats",
    credential: "operatorKey",
    roles: EVERY_ROLE,
    summary: "What happened, day by day",
    description:
      "One item for each UTC day, oldest first, of one channel or of all that the operator sees together. Kept for 400 days; right within 5 s, and a process that is killed loses what it counted in the last second.",
    query: {
      channel: {
        description: "Only of this channel",
        example: "shop",
      },
      from: dayField("The first day; 30 days in all without it", "2026-11-01"),
      to: dayField("The last day; today without it", "2026-11-22"),
    },
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
