import type { RedisCommands } from "./commands.ts";
import { globalKeys, holdersKey } from "./keys.ts";
import type { LinkLog, RedisLink } from "./link.ts";
import { partsOfKey, scanKeys } from "./scan.ts";

/**
 * Lists every holder that is on no list. Instances of 0.1.0 write no lists, so what one of them held when it died, or
 * what a restored store says was held, would never be recovered.
 *
 * A walk over all key names takes Redis a third of a second per million of them; so one process does it for all, once
 * an hour.
 */
export interface UnlistedHolders {
  /** Begins it, unless a process has done so within the hour; may be called as often as you like. */
  list(): void;
}

const EVERY_MS = 3_600_000;

export function createUnlistedHolders({
  link,
  redis,
  processId,
  log,
}: {
  link: Pick<RedisLink, "shards">;
  redis: RedisCommands;
  processId: string;
  log: Pick<LinkLog, "warn">;
}): UnlistedHolders {
  const { listed } = globalKeys;
  let askedAtMs = -Infinity;

  async function begin(): Promise<void> {
    const isOurs = await redis.write(listed, "SET", listed, processId, "NX", "PX", String(EVERY_MS));
    if (isOurs === null) return;
    try {
      for await (const names of scanKeys(link, "own:*")) await Promise.all(names.map(enlist));
    } catch (error) {
      await redis.write(listed, "DEL", listed).catch(() => {});
      throw error;
    }
  }

  async function enlist(name: string): Promise<void> {
    const { kind, tag: bucket, id: holder } = partsOfKey(name) ?? { kind: "", tag: "", id: "" };
    if (kind !== "own" || holder === "") return;
    const key = holdersKey(bucket);
    await redis.write(key, "SADD", key, holder);
  }

  return {
    list() {
      const nowMs = performance.now();
      if (nowMs - askedAtMs < EVERY_MS) return;
      askedAtMs = nowMs;
      begin().catch((error: unknown) => {
        askedAtMs = -Infinity;
        log.warn({ err: error }, "cannot list the holders that are on no list: trying again");
      });
    },
  };
}
