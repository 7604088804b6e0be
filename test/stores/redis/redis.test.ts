// For src/store/, src/stores/redis.ts, src/stores/engines/redis/, src/stores/
import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { EVERYTHING, StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { STORE_FORMAT } from "../../../src/stores/format.ts";
import { library } from "../../../src/stores/engines/redis/library.ts";
import { tables } from "../../../src/stores/tables.ts";
import { isFull } from "../../faults/lengths.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { dumpRedis } from "../dump-store.ts";
import { describeStore } from "../contract/contract.ts";
import { itEqualsTheReference } from "../twin/equivalence.ts";
import { guarded } from "./guarded-library.ts";
import { checkInvariants } from "../twin/invariants.ts";
import { orderEach, redisStores } from "./open-redis.ts";
import { BUDGET_CHARS, SLUG, sampleChannel, sampleCommit, sampleMessage, sampleWaiting } from "../samples.ts";
import { admit, admitCaller, merged, mint, sidesOf } from "../users.ts";

const FORMAT = "format:{g}";
let redis: RedisServer;
const { open, closeAll, openForTest } = redisStores(() => [redis.url]);
const order = async (...command: string[]) => (await orderEach([redis.url], ...command))[0];

beforeAll(async () => {
  redis = await startRedis();
  // Whatever is asked of the store here, no function breaks the library's rule.
  await order("FUNCTION", "LOAD", guarded(library));
});
afterEach(closeAll);
afterAll(() => redis.stop());

describeStore("Redis", openForTest);

describe("Redis", () => {
  itEqualsTheReference(openForTest, {
    runs: 60,
    elapses: false,
    faults: async () => checkInvariants(await dumpRedis([redis.url])),
  });
});

const claim = sampleCommit({ opId: "claim", fence: "p:a", messages: [sampleMessage(1)] });
const committed = { type: "committed", rev: 1, next: null };

async function fill(store: Store): Promise<void> {
  await store.putChannel(sampleChannel());
  await mint(store, "h1", "u1");
}

/** A way to Redis on which questions arrive and, while it is so set, answers do not. */
async function startLossyWay(port: number) {
  let swallows = false;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    near.on("data", (bytes) => far.write(bytes)).on("close", () => far.destroy());
    far.on("data", (bytes) => swallows || near.write(bytes)).on("close", () => near.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    swallowAnswers: (value: boolean) => void (swallows = value),
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Resolves when the store answers again; at full length, on a machine that does nothing else, within a second. */
async function untilBack(store: Store): Promise<void> {
  const startedMs = performance.now();
  await expect.poll(() => store.changeCount().catch(() => null)).not.toBeNull();
  if (isFull) expect(performance.now() - startedMs).toBeLessThan(1_000);
}

/** How long the work takes: asserted at full length alone, on a machine that does nothing else. */
async function within(ms: number, work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  await work();
  if (isFull) expect(performance.now() - startedMs).toBeLessThan(ms);
}

describe("round trips", () => {
  it("admit, load and commit are one command each, a new user two, identify two readings, and its merge a reading and a step", async () => {
    await order("FLUSHALL");
    const told: string[] = [];
    const store = await open({ onCommand: (name) => told.push(name) });
    await fill(store);
    async function commandsOf(work: () => Promise<unknown>): Promise<number> {
      told.length = 0;
      await work();
      return told.length;
    }
    expect(await commandsOf(() => admit(store, "h1", "n"))).toBe(1);
    const asked = { displayName: "Kim", newUserId: "u2", thread: { name: "n", newUid: "t1" } };
    expect(await commandsOf(() => admitCaller(store, asked))).toBe(2);
    expect(await commandsOf(() => store.load("t1", BUDGET_CHARS))).toBe(1);
    // A new thread's first commit notes it in the orders, too.
    expect(await commandsOf(() => store.commit(claim))).toBe(2);
    const goesOn = { ...claim, opId: "b", claims: false, rev: 1, messages: [] };
    expect(await commandsOf(() => store.commit(goesOn))).toBe(1);
    // Only a claim that finds the thread held sends its message a second time, to wait.
    const late = { ...claim, opId: "late", fence: "p:b", orWait: { message: sampleWaiting("w1"), max: 8 } };
    expect(await commandsOf(() => store.commit(late))).toBe(2);

    const sides = await sidesOf(store);
    expect(await commandsOf(() => store.readIdentity(SLUG, "h1", "kim"))).toBe(2);
    expect(await commandsOf(() => store.merge(sides))).toBe(2);
  });
});

it("carries its format, and opens no store of another one, which it leaves as it is", async () => {
  await order("FLUSHALL");
  await open();
  expect(await order("GET", FORMAT)).toBe(String(STORE_FORMAT));
  await open();
  for (const other of ["2", String(STORE_FORMAT + 1), "none"]) {
    await order("SET", FORMAT, other);
    await expect(open()).rejects.toThrow(
      `Cannot open the store on Redis: its format is ${other}, this version reads`,
    );
    expect(await order("GET", FORMAT)).toBe(other);
  }
  // 0.1.0 wrote none.
  await order("DEL", FORMAT);
  await order("HSET", tables.channels.key, SLUG, "");
  await expect(open()).rejects.toThrow("its format is 1, this version reads");
  expect(await order("GET", FORMAT)).toBe(null);
  await order("FLUSHALL");
});

it("a message between instances that is no JSON object is told of and ignored", async () => {
  const warnings: string[] = [];
  const store = await open({ log: { warn: (_, text) => warnings.push(text) } });
  const received: unknown[] = [];
  store.onMessage((message) => received.push(message));
  for (const text of ["no JSON", "[1]", '{"hello":1}']) await order("PUBLISH", `i:${store.processId}`, text);
  await expect.poll(() => received).toEqual([{ hello: 1 }]);
  expect(warnings).toEqual(Array(2).fill("a message between instances is no JSON object: ignored"));
});

it("a user whom an instance does not know costs an admission one command more, one who moved elsewhere two, once", async () => {
  await order("FLUSHALL");
  const told: string[] = [];
  const [elsewhere, store] = [await open(), await open({ onCommand: (name) => told.push(name) })];
  await fill(elsewhere);
  await admitCaller(elsewhere, { newUserId: "u2" });
  async function admits(who: "visitor" | "caller", userId: string, commands: number): Promise<void> {
    told.length = 0;
    const admitted = await (who === "visitor"
      ? admit(store, "h1")
      : admitCaller(store, { newUserId: "new" }));
    expect([admitted?.user.userId, told.length]).toEqual([userId, commands]);
  }
  await admits("visitor", "u1", 2);
  await admits("visitor", "u1", 1);
  await admits("caller", "u2", 2);
  await admits("caller", "u2", 1);

  await merged(elsewhere);
  await admits("visitor", "u2", 3);
  await admits("visitor", "u2", 1);
  expect((await store.users(SLUG)).map(({ userId }) => userId)).toEqual(["u2"]);
});

it("P9: a process that dies before its first beat is found among the holders, and then silent", async () => {
  await order("FLUSHALL");
  const [gone, other] = [await open(), await open()];
  await gone.commit({ ...claim, fence: `${gone.processId}:a` });
  await gone.close();
  expect(await other.beat()).toEqual([]);
  expect(await other.holders(EVERYTHING)).toEqual([gone.processId]);
  await other.enter([gone.processId]);
  expect(await other.beat()).toEqual([
    { processId: gone.processId, stamp: expect.stringMatching(/^[1-9]\d*$/) },
  ]);
  expect(await other.heldBy(gone.processId)).toHaveLength(1);
});

it("a change whose notice was lost is told of by the next beat", async () => {
  await order("FLUSHALL");
  const store = await open();
  const told = vi.fn<() => void>();
  store.onChange(told);
  await store.beat();
  await order("HINCRBY", tables.changes.key, "count", "1");
  expect(told).not.toHaveBeenCalled();
  await store.beat();
  await store.beat();
  expect(told).toHaveBeenCalledTimes(1);
});

describe("P24: an outage", () => {
  let own: RedisServer;
  beforeAll(async () => {
    own = await startRedis();
  });
  afterAll(() => own.stop());

  it("Redis killed and started again: an error within 2 s, back within a second, nothing lost", async () => {
    const store = await open({ urls: [own.url] });
    expect(await store.commit(claim)).toEqual(committed);
    const underWay = store.load("t1", BUDGET_CHARS).catch((error: unknown) => error);
    await own.kill9();
    await underWay;
    await within(2_000, async () => {
      await expect(store.load("t1", BUDGET_CHARS)).rejects.toThrow(StoreUnavailable);
      expect((await store.health()).reachable).toBe(false);
    });
    // Long enough for the reconnecting to be at its slowest.
    await sleep(1_500);
    await own.restart();
    await untilBack(store);
    // P1: the answer that a lost connection swallowed is given again.
    expect(await store.commit(claim)).toEqual(committed);
    expect((await store.load("t1", BUDGET_CHARS))?.messageCount).toBe(1);
  });

  it("notices and messages come again after an outage", async () => {
    const store = await open({ urls: [own.url] });
    const [onChange, onMessage] = [vi.fn<() => void>(), vi.fn<() => void>()];
    store.onChange(onChange);
    store.onMessage(onMessage);
    await own.restart();
    await untilBack(store);
    await expect
      .poll(async () => {
        store.send(store.processId, { hello: 1 });
        await store.blockIp(`203.0.113.${onChange.mock.calls.length}`);
        await store.unblockIp("203.0.113.0");
        return onChange.mock.calls.length > 0 && onMessage.mock.calls.length > 0;
      })
      .toBe(true);
  });

  it("Redis emptied of data and functions: the functions load themselves again", async () => {
    const store = await open({ urls: [own.url] });
    await store.commit(claim);
    await orderEach([own.url], "FLUSHALL");
    await orderEach([own.url], "FUNCTION", "FLUSH");
    expect(await store.load("t1", BUDGET_CHARS)).toBeNull();
    const claims = Array.from({ length: 20 }, (_, i) =>
      store.commit({ ...claim, uid: `t${i}`, opId: `${i}` }),
    );
    expect(await Promise.all(claims)).toEqual(claims.map(() => committed));
  });

  it("P1: Redis stopped in mid-air: an error within 2 s, and a repeat answers what the lost answer said", async () => {
    const store = await open({ urls: [own.url] });
    const late = { ...claim, uid: "late", opId: "late" };
    await store.commit({ ...claim, uid: "before", opId: "before" });
    own.pause();
    await within(2_500, () => expect(store.commit(late)).rejects.toThrow(StoreUnavailable));
    // The silent connection was given up: no second call waits for it.
    await within(500, () => expect(store.commit(late)).rejects.toThrow(StoreUnavailable));
    own.resume();
    await untilBack(store);
    expect(await store.commit(late)).toEqual(committed);
    const record = await store.load("late", BUDGET_CHARS);
    expect([record?.rev, record?.messageCount]).toEqual([1, 1]);
  });

  it("P1: an answer lost on the way: unknown within 2 s, done only once, and told by the repeat", async () => {
    const way = await startLossyWay(own.port);
    try {
      const store = await open({ urls: [way.url] });
      const lost = { ...claim, uid: "lost", opId: "lost" };
      await store.load("lost", BUDGET_CHARS);
      way.swallowAnswers(true);
      await expect(store.commit(lost)).rejects.toThrow(StoreUnavailable);
      way.swallowAnswers(false);
      await untilBack(store);
      expect((await store.load("lost", BUDGET_CHARS))?.rev).toBe(1);
      expect(await store.commit(lost)).toEqual(committed);
      const record = await store.load("lost", BUDGET_CHARS);
      expect([record?.rev, record?.messageCount]).toEqual([1, 1]);
    } finally {
      await closeAll();
      await way.stop();
    }
  });

  it("idle for longer than the connection's silence allows is no outage", async () => {
    const warnings: string[] = [];
    const store = await open({ urls: [own.url], log: { warn: (_, text) => warnings.push(text) } });
    await sleep(3_500);
    await store.changeCount();
    expect(warnings).toEqual([]);
  });

  it("nothing to connect to: an error within 2 s", async () => {
    const gone = await startRedis();
    await gone.stop();
    await expect(open({ urls: [gone.url] })).rejects.toThrow(StoreUnavailable);
  });

  it("several addresses of a server that is no cluster: an error that says so", async () => {
    await expect(open({ urls: [own.url, own.url] })).rejects.toThrow("cluster support disabled");
  });
});

describe("DURABILITY=replica", () => {
  let primary: RedisServer;
  beforeAll(async () => {
    primary = await startRedis({ args: ["--repl-diskless-sync-delay", "0", "--appendfsync", "always"] });
  });
  afterAll(() => primary.stop());

  it("P1: acknowledged is what a replica has; without one the outcome is unknown", async () => {
    const store = await open({ urls: [primary.url], durability: "replica" });
    expect((await store.health()).warnings.join()).toContain("no replica");
    await expect(store.commit(claim)).rejects.toThrow(StoreUnavailable);

    const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    try {
      const isKept = () =>
        store.putChannel(sampleChannel()).then(
          () => true,
          () => false,
        );
      await expect.poll(isKept).toBe(true);
      expect((await store.health()).warnings).toEqual([]);
      // It was done before, and is told as done only now.
      expect(await store.commit(claim)).toEqual(committed);
      const other = { ...claim, uid: "t2", opId: "2" };
      expect(await store.commit(other)).toEqual(committed);
      const [keys] = await orderEach([replica.url], "KEYS", "h:*");
      expect(keys).toHaveLength(2);

      replica.pause();
      const third = { ...claim, uid: "t3", opId: "3" };
      await within(2_500, () => expect(store.commit(third)).rejects.toThrow(StoreUnavailable));
    } finally {
      await replica.stop();
    }
  });
});

describe("health", () => {
  it("names each promise that the server's settings cannot keep", async () => {
    const careless = await startRedis({
      args: ["--appendonly", "no", "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"],
    });
    try {
      const { warnings } = await (await open({ urls: [careless.url] })).health();
      expect(warnings).toHaveLength(2);
      expect(warnings.join()).toContain("allkeys-lru");
      expect(warnings.join()).toContain("no appendonly, no save");
      const everySecond = expect.stringContaining("appendfsync everysec");
      expect(await (await open()).health()).toEqual({ reachable: true, warnings: [everySecond] });
    } finally {
      await closeAll();
      await careless.stop();
    }
  });

  it.each([
    ["whose keys have a prefix", ["~chat:*", "&*", "+@all"]],
    ["who may not load functions", ["~*", "&*", "+@all", "-function"]],
    ["who may not subscribe", ["~*", "&chat:*", "+@all"]],
  ])("a user %s ends the opening with what Redis answers", async (_, rules) => {
    const strict = await startRedis();
    try {
      await orderEach([strict.url], "ACL", "SETUSER", "app", "on", ">secret", ...rules);
      await expect(open({ urls: [`redis://app:secret@127.0.0.1:${strict.port}`] })).rejects.toThrow(
        "Cannot open the store on Redis: it answers NOPERM",
      );
    } finally {
      await strict.stop();
    }
  });

  it("N4: a server without functions is named as such, with those that have them", async () => {
    const older = await startRedis({ args: ["--rename-command", "FUNCTION", ""] });
    try {
      const opening = open({ urls: [older.url] });
      await expect(opening).rejects.toThrow(
        "Cannot open the store on Redis: it has no command FUNCTION. The store takes Redis 7.0, Valkey 7.2, or newer",
      );
    } finally {
      await older.stop();
    }
  });

  it.each(["FUNCTION", "HELLO"])(
    "N4: so is a server that knows not even the first command: %s",
    async (command) => {
      const alien = createServer((socket) => {
        socket.on("error", () => {});
        socket.on("data", () => socket.write(`-ERR unknown command '${command}'\r\n`));
      });
      alien.listen(0, "127.0.0.1");
      await once(alien, "listening");
      const { port } = alien.address() as AddressInfo;
      try {
        await expect(open({ urls: [`redis://127.0.0.1:${port}`] })).rejects.toThrow(
          `Cannot connect to Redis: it has no command ${command}. The store takes Redis 7.0, Valkey 7.2, or newer`,
        );
      } finally {
        alien.close();
      }
    },
  );

  it("P15: works where settings may not be read; a password is in no error", async () => {
    const strict = await startRedis();
    try {
      const rules = ["on", ">canary-secret", "~*", "&*", "+@all", "-config", "-info"];
      await orderEach([strict.url], "ACL", "SETUSER", "app", ...rules);
      const store = await open({ urls: [`redis://app:canary-secret@127.0.0.1:${strict.port}`] });
      expect(await store.health()).toEqual({ reachable: true, warnings: [] });
      await fill(store);
      const told: unknown[] = [];
      const warn = (...words: unknown[]) => told.push(words);
      for (const url of [
        `redis://app:canary-secret2@127.0.0.1:${strict.port}`,
        "redis://app:canary-secret@[bad",
        "http://app:canary-secret@127.0.0.1",
      ]) {
        told.push(await open({ urls: [url], log: { warn } }).catch((error: unknown) => error));
      }
      await strict.kill9();
      told.push(await store.changeCount().catch((error: unknown) => error));
      expect(told.length).toBeGreaterThanOrEqual(4);
      expect(inspect(told, { depth: 10, showHidden: true })).not.toContain("canary");
    } finally {
      await closeAll();
      await strict.stop();
    }
  });
});
