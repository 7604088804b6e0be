import type { RedisCommands } from "./commands.ts";
import { globalKeys } from "./keys.ts";

/** In `filled:{g}`: the walk of fill-orders.ts over the channel has ended. */
export const FILLED_ALL = "done";

/**
 * The field for the walk that also fills the orders by state: the walk of an earlier version, under the slug, did
 * not.
 */
export function statesField(slug: string): string {
  return `${slug} states`;
}

export async function isFilledWithStates(redis: Pick<RedisCommands, "read">, slug: string): Promise<boolean> {
  return isFilled(redis, statesField(slug));
}

/** `slug`: a channel, or another field. */
export async function isFilled(redis: Pick<RedisCommands, "read">, slug: string): Promise<boolean> {
  const { filled } = globalKeys;
  return (await redis.read(filled, "HGET", filled, slug)) === FILLED_ALL;
}
