import { refuseLaterFormat, STORE_FORMAT } from "../format.ts";
import type { RedisCommands } from "./commands.ts";
import { globalKeys } from "./keys.ts";
import { textOf } from "./records.ts";

/** Writes the format, or raises an older one; throws if the store has a later format. */
export async function checkFormat(redis: RedisCommands): Promise<void> {
  const { format } = globalKeys;
  const ours = String(STORE_FORMAT);
  const known = await redis.read(format, "GET", format);
  const found = known === ours ? known : await redis.call("raise_format", { format }, { ours });
  refuseLaterFormat(textOf(found), "on Redis");
}
