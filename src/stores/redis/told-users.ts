import { tellsOfIdentified } from "../told-users.ts";
import type { RedisCommands } from "./commands.ts";
import { channelOutboxKeys } from "./keys.ts";
import { hashPages } from "./pages.ts";

const AT_ONCE = 500;

/**
 * Removes the undelivered `user.identified` events of a deleted user; `user.deleted` stays. References to them are
 * dropped on delivery.
 */
export async function dropToldOf(redis: RedisCommands, slug: string, userId: string): Promise<void> {
  const { outbox } = channelOutboxKeys(slug);
  for await (const page of hashPages(redis, outbox, AT_ONCE)) {
    const theirs = page.filter(([, text]) => tellsOfIdentified(text, userId)).map(([field]) => field);
    if (theirs.length > 0) await redis.write(outbox, "HDEL", outbox, ...theirs);
  }
}
