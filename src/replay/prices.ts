import type { z } from "zod";
import type { Usage } from "../../machines/run.ts";
import { complaint } from "../domain/channels/channel-fields.ts";
import { messageOf } from "../errors.ts";
import { pricesSchema } from "../domain/prices.ts";

/** A model's price may be under its name only, too. */
export type Prices = z.infer<typeof pricesSchema>;

/** Throws an Error whose message is one line. */
export function parsePrices(text: string): Prices {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`it is not JSON: ${messageOf(error)}`, { cause: error });
  }
  const parsed = pricesSchema.safeParse(json);
  if (!parsed.success) throw new Error(complaint(parsed.error));
  return parsed.data;
}

/** One turn of a model, with its tokens if its server reported them. */
export interface PaidTurn {
  by: string;
  usage: Usage | null;
}

/** The cost of the turns; a string says why it is unknown. */
export function costOf(turns: readonly PaidTurn[], { perMillionTokens }: Prices): number | string {
  let cost = 0;
  for (const { by, usage } of turns) {
    const price = perMillionTokens[by] ?? perMillionTokens[by.slice(by.indexOf("/") + 1)];
    if (!price) return `${by} has no price`;
    if (!usage) return `${by} does not tell its tokens`;
    cost += (usage.input * price.input + usage.output * price.output) / 1_000_000;
  }
  return cost;
}
