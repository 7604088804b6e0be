import type { RedisCommands } from "./commands.ts";
import { globalKeys } from "./keys.ts";

/** In `filled:{g}`: a channel in which the walk of fill-orders.ts has come to its end. */
export const FILLED_ALL = "done";

export async function isFilled(redis: Pick<RedisCommands, "read">, slug: string): Promise<boolean> {
  const { filled } = globalKeys;
  return (await redis.read(filled, "HGET", filled, slug)) === FILLED_ALL;
}
