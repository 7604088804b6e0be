// For src/stores/engine.ts, src/stores/engines/redis/
import * as fc from "fast-check";
import { ErrorReply } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { randomRuns } from "../../support/lengths.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { stoppableRedis } from "./stoppable-redis.ts";
import { breaks, round } from "./theorem.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ args: ["--appendonly", "no"] });
});
afterAll(() => redis.stop());

/** What a mistake in the library's text makes of it. */
function planted(was: string, becomes: string): (text: string) => string {
  return (text) => {
    if (!text.includes(was)) throw new Error(`Cannot plant a mistake: the library has no "${was}"`);
    return text.replaceAll(was, becomes);
  };
}

/** Adds to scores where it should set them. */
const ADDS = `
  if words[first - 3] == 'ZADD' and tonumber(words[first]) then
    for i = first, at, 2 do redis.call('ZINCRBY', keys[words[first - 2] + 0], words[i], words[i + 1]) end
    return 0
  end
  return redis.call(`;

/** A call that broke the rule of the library is a mistake that is found; any other error is none. */
function brokenRule(error: unknown): string {
  if (!(error instanceof ErrorReply) || !error.message.includes("BROKEN RULE")) throw error;
  return error.message;
}

describe("P10 on Redis: a step that was stopped is completed by the same step; two at once are as one after the other", () => {
  it("holds for random steps, stopped before any of their writes", async () => {
    const { close, ...stoppable } = await stoppableRedis(redis.url);
    try {
      await fc.assert(
        fc.asyncProperty(round, async (drawn) => {
          expect(await breaks(stoppable, drawn)).toBeNull();
        }),
        { numRuns: randomRuns(2_000) },
      );
    } finally {
      await close();
    }
  });

  it.each([
    [
      "a write before the checks",
      planted(
        "local failed = failed_check()",
        "redis.call('HSET', keys[1], 'a', 'early')\n  local failed = failed_check()",
      ),
    ],
    [
      "an op that comes first",
      planted(
        "    commands()\n  end",
        "    if op then redis.call('HSET', op, op_field, op_value) end\n    commands()\n  end",
      ),
    ],
    ["a write that is not idempotent", planted("\n  return redis.call(", ADDS)],
    ["a check that is forgotten", planted("not is_one_of(found[i])", "not is_one_of(found[i]) and i > 1")],
    ["a check that takes all for nothing", planted("count < 0 and not found", "count < 0")],
    [
      "a check whether a key exists that is forgotten",
      planted("found = { tostring(found) }", "found = { words[at + 2] }"),
    ],
    [
      "a repeat that leaves out what comes after",
      planted("  commands()\n  return { repeats", "  if not repeats then commands() end\n  return { repeats"),
    ],
  ])("finds %s", async (_name, plant) => {
    const { close, ...stoppable } = await stoppableRedis(redis.url, plant);
    const startedMs = performance.now();
    try {
      for (let seed = 1; ; seed++) {
        const drawn = fc.sample(round, { seed, numRuns: 1 })[0];
        if (drawn === undefined || (await breaks(stoppable, drawn).catch(brokenRule)) === null) continue;
        expect(performance.now() - startedMs).toBeLessThan(60_000);
        break;
      }
    } finally {
      await close();
    }
  });
});
