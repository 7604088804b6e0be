import type { RedisCommands } from "./commands.ts";
import { globalKeys } from "./keys.ts";

/** In `filled:{g}`: a channel in which the walk of fill-orders.ts has come to its end. */
export const FILLED_ALL = "done";

/** The same walk, of what an earlier version's had passed already: that one kept no orders by state. */
export function statesField(slug: string): string {
  return `${slug} states`;
}

export async function isFilledWithStates(redis: Pick<RedisCommands, "read">, slug: string): Promise<boolean> {
  return isFilled(redis, statesField(slug));
}

/** Of a channel, or of one of its fields. */
export async function isFilled(redis: Pick<RedisCommands, "read">, slug: string): Promise<boolean> {
  const { filled } = globalKeys;
  return (await redis.read(filled, "HGET", filled, slug)) === FILLED_ALL;
}
