import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { library } from "../../src/stores/redis/functions.ts";
import { changing, reading } from "../../src/stores/redis/signatures.ts";
import { linkToServer } from "../../src/stores/redis/single.ts";
import { dumpRedis } from "../support/dump-redis.ts";
import { redisClient } from "../support/redis-client.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { contentsOf } from "./contents.ts";
import type { StoreUnderTest } from "./contract.ts";
import { itEqualsTheReference } from "./equivalence.ts";
import { functionCases } from "./function-calls.ts";
import type { FunctionCase } from "./function-calls.ts";
import { guarded } from "./guarded-library.ts";
import { checkInvariants } from "./invariants.ts";
import { openOver, quiet, stopping } from "./over-link.ts";

/**
 * P10: a key that is not there any more, because its slot is on its way to another node, ends a function in its middle,
 * and Redis takes nothing back. So whatever of its writes it was stopped before, the same call made again completes what
 * was begun: what is kept then, and what it answers, is as if it had not been stopped.
 */
let redis: RedisServer;
let client: Awaited<ReturnType<typeof connect>>;

function connect({ url }: RedisServer) {
  return redisClient(url).connect();
}

beforeAll(async () => {
  redis = await startRedis();
  client = await connect(redis);
  await client.sendCommand(["FUNCTION", "LOAD", guarded(library)]);
});
afterAll(async () => {
  client.destroy();
  await redis.stop();
});

/** Everything before the step, the step with its first call stopped so, and all that is kept then. */
async function play(it: FunctionCase, beforeWrite: number) {
  await client.sendCommand(["FLUSHALL"]);
  let inStep = false;
  const { link, stopped } = stopping(
    await linkToServer(redis.url, { log: quiet, deadlineMs: 20_000 }),
    (name, stops) => (inStep && name === it.function && stops === 0 ? beforeWrite : 0),
  );
  const { store, redis: commands } = await openOver(link);
  try {
    await it.before(store);
    inStep = true;
    const answer = await it.step(store, commands);
    return { wasStopped: stopped.length > 0, left: { answer, contents: await contentsOf(client) } };
  } finally {
    await store.close();
  }
}

describe("a function that was stopped before one of its writes", () => {
  const cases = functionCases();

  it("is any function of the library", () => {
    const names = Object.keys({ ...changing, ...reading });
    expect([...new Set(cases.map((each) => each.function))].sort()).toEqual(names.sort());
  });

  it.each(cases.map((each) => [each.name, each] as const))(
    "%s: is completed by a repeat, wherever it was stopped",
    async (_name, each) => {
      const { left } = await play(each, 0);
      for (let beforeWrite = 1; ; beforeWrite++) {
        const played = await play(each, beforeWrite);
        expect(played.left, `stopped before write ${beforeWrite}`).toEqual(left);
        if (!played.wasStopped) break;
      }
    },
  );
});

describe("functions that are all stopped before each of their writes in turn", () => {
  async function open(): Promise<StoreUnderTest> {
    await client.sendCommand(["FLUSHALL"]);
    const { link } = stopping(
      await linkToServer(redis.url, { log: quiet, deadlineMs: 20_000 }),
      (_name, stops) => stops + 1,
    );
    const { store } = await openOver(link);
    const another = () => Promise.reject(new Error("Cannot open the store again: one is enough here"));
    return { store, reopen: another, another, elapse: async () => {}, clean: () => store.close() };
  }

  itEqualsTheReference(open, {
    runs: 20,
    elapses: false,
    faults: async () => checkInvariants(await dumpRedis([redis.url])),
  });
});
