import { z } from "zod";
import { dayOf } from "../../domain/day.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import { readCaps } from "../../operators/accounts/caps.ts";
import type { DailyCaps } from "../../operators/accounts/caps.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

const use = { limit: z.int(), used: z.int() };

const capsSchema = z.object({
  day: z.string().describe("Today, in UTC"),
  installation: z
    .object(use)
    .nullable()
    .describe("MAX_TOKENS_PER_DAY; null: none, or the operator is limited to channels"),
  address: z
    .object({ limit: z.int() })
    .nullable()
    .describe("ADDRESS_MAX_TOKENS_PER_DAY, of each client address; null as above"),
  channels: z
    .array(z.object({ channel: z.string(), ...use }))
    .describe("Those with `maxTokensPerDay` that the operator sees"),
});

const EXAMPLE: DailyCaps = {
  day: "2026-11-22",
  installation: { limit: 5_000_000, used: 1_204_310 },
  address: { limit: 50_000 },
  channels: [{ channel: "shop", limit: 2_000_000, used: 915_002 }],
};

/** GET /v1/operator/caps: how much of today's spending caps is left. */
export function capsEndpoint({ store, clock, config }: Pick<OperatorApi, "store" | "clock" | "config">) {
  const shared = { installation: config.maxTokensPerDay, address: config.addressMaxTokensPerDay };
  return endpoint({
    method: "GET",
    path: "/v1/operator/caps",
    credential: "operatorKey",
    roles: EVERY_ROLE,
    summary: "Today's spending caps, and what is used of them",
    description:
      "Tokens of the present UTC day, input and output together, over all instances. The caps of the installation and of addresses are settings of the instance that answers.",
    answers: { 200: documentedJson("The caps", capsSchema, EXAMPLE) },
    async handle({ caller }) {
      const all = await store.channels(() => {});
      return jsonAnswer(
        200,
        await readCaps(store, {
          channels: all.filter(({ slug }) => seesChannel(caller, slug)),
          shared: caller.channels === null ? shared : { installation: null, address: null },
          day: dayOf(clock.now()),
        }),
      );
    },
  });
}
