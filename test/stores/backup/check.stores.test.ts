import { open } from "lmdb";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { RULES } from "../../../src/stores/backup/rules.ts";
import type { Rule } from "../../../src/stores/backup/rules.ts";
import { keyPart } from "../../../src/stores/embedded/db.ts";
import { bucketOf } from "../../../src/stores/buckets.ts";
import {
  activityKey,
  blockedUsersKey,
  busyKey,
  channelKey,
  dueKey,
  externalIdKey,
  globalKeys,
  ownersKey,
  ownKey,
  threadKeys,
  tokenKey,
  userKeys,
  usersKey,
} from "../../../src/stores/redis/keys.ts";
import { emptyFolder } from "../../support/data-dir.ts";
import { rowsAtLength } from "../../support/lengths.ts";
import { sampleChannel, SLUG } from "../samples.ts";
import { runCommand } from "../../support/terminal.ts";
import { store, storeJson } from "./copy.ts";
import { fillStore } from "./fill.ts";
import { openPlace } from "./places.ts";
import type { StorePlace } from "./places.ts";
import { redisClient } from "../../support/redis-client.ts";

/** Each rule is broken by hand, past the service: the check finds that and nothing else, and the repair mends it. */
const kind = inject("stores").includes("redis") ? "redis" : "embedded";

let place: StorePlace;
let backup: string;
beforeAll(async () => {
  backup = join(emptyFolder(), "backup");
  const filled = await openPlace(kind);
  const opened = await filled.open();
  await fillStore(opened);
  await opened.close();
  await storeJson(filled.env, "backup", backup);
  await filled.remove();
});
beforeEach(async () => {
  place = await openPlace(kind);
  onTestFinished(() => place.remove());
  await storeJson(place.env, "restore", backup);
});

type Records = ReturnType<typeof open<unknown, (string | number)[]>>;

/** How each rule is broken on the embedded store; absent: it cannot be. */
const embedded: Partial<Record<Rule, (db: Records) => void>> = {
  "listed user is gone": (db) => void db.put(["us", SLUG, 5, "nobody"], "nobody"),
  "user is not listed": (db) => {
    for (const { key } of db.getRange({ start: ["us", SLUG], end: ["us", `${SLUG}~`] })) {
      if (key[3] === "ann") void db.remove(key);
    }
  },
  "external id leads to nobody": (db) => void db.put(["x", SLUG, "zoe"], "nobody"),
  "account is not reached": (db) => void db.remove(["x", "bot", "many"]),
  "token leads to nobody": (db) => {
    void db.put(["v", SLUG, "stray"], { userId: "nobody", snapshot: "s" });
    void db.put(["e", SLUG, "stray"], Date.now() + 60_000);
  },
  "token never ends": (db) => void db.remove(["e", SLUG, "hash-ann"]),
  "thread names of nobody": (db) =>
    void db.put(["n", SLUG, "nobody", "x"], { uid: "u", name: "x", createdAtMs: 1 }),
  "hold of a thread that is not held so": (db) =>
    void db.put(["held", "p", "many-7"], { uid: "many-7", fence: "p:1" }),
  "thread is held and not listed": (db) => void db.remove(["held", "gone-process", "ann-two"]),
  "deadline of a thread that does not rest": (db) => void db.put(["due", 5, "many-7"], "many-7"),
  "resting thread has no deadline": (db) => {
    for (const { key } of db.getRange({ start: ["due"], end: ["due~"] })) void db.remove(key);
  },
  "part of a thread that is not there": (db) => void db.put(["m", "nowhere", 1], { id: "1" }),
  "thread has no name": (db) => {
    for (const { key, value } of db.getRange({ start: ["n", "bot"], end: ["n", "bot~"] })) {
      if ((value as { uid: string }).uid === "many-7") void db.remove(key);
    }
  },
  "messages wait and nobody holds the thread": (db) => {
    const header = db.get(["h", "ann-two"]) as object;
    void db.put(["h", "ann-two"], { ...header, fence: null });
    void db.remove(["held", "gone-process", "ann-two"]);
  },
  "message is out of its place": (db) => {
    const message = db.get(["m", "cid-one", 700]) as object;
    void db.put(["m", "cid-one", 700], { ...message, id: "7" });
  },
  "run is not listed": (db) => void db.remove(["rs", "many-7", 1]),
  "record cannot be read": (db) => void db.put(["m", "cid-one", 700], { id: "700" }),
  "restore has not ended": (db) =>
    void db.put(["restoring"], { sha256: "", takenAtMs: 1, done: 1, channels: [], holders: [] }),
};

const uidKeys = (uid: string) => ({ ...threadKeys(uid), due: dueKey(bucketOf(uid)) });

/** The same on Redis, as commands. */
const onRedis: Partial<Record<Rule, string[][]>> = {
  "listed user is gone": [["ZADD", usersKey(SLUG), "5", "nobody"]],
  "user is not listed": [["ZREM", usersKey(SLUG), "ann"]],
  "external id leads to nobody": [["SET", externalIdKey(SLUG, "zoe"), "nobody"]],
  "account is not reached": [["DEL", externalIdKey("bot", "many")]],
  "token leads to nobody": [
    ["HSET", tokenKey(SLUG, "stray"), "user", "nobody", "snapshot", "s"],
    ["PEXPIRE", tokenKey(SLUG, "stray"), "600000"],
  ],
  "token never ends": [["PERSIST", tokenKey(SLUG, "hash-ann")]],
  "thread names of nobody": [["HSET", userKeys(SLUG, "nobody").names, "x", "u 1"]],
  "channel is listed and not there": [["SADD", globalKeys.channels, "ghost"]],
  "channel is not listed": [
    ["HSET", channelKey("ghost"), "enabled", "1", "mode", "open", "json", JSON.stringify(sampleChannel())],
  ],
  "hold of a thread that is not held so": [["HSET", ownKey(bucketOf("many-7"), "p"), "many-7", "p:1"]],
  "thread is held and not listed": [["DEL", ownKey(bucketOf("ann-two"), "gone-process")]],
  "deadline of a thread that does not rest": [["ZADD", uidKeys("many-7").due, "5", "many-7"]],
  "resting thread has no deadline": [["DEL", uidKeys("bob-one").due]],
  "part of a thread that is not there": [["RPUSH", threadKeys("nowhere").messages, "1\n{}"]],
  "thread has no name": [["HDEL", userKeys("bot", "many").names, "name 7"]],
  "messages wait and nobody holds the thread": [
    ["HDEL", threadKeys("ann-two").header, "fence"],
    ["DEL", ownKey(bucketOf("ann-two"), "gone-process")],
  ],
  "message is out of its place": [
    [
      "LSET",
      threadKeys("cid-one").messages,
      "699",
      `1\n${JSON.stringify({ id: "7", role: "user", content: "x", createdAtMs: 1, runId: "r" })}`,
    ],
  ],
  "run is not listed": [["DEL", threadKeys("many-7").runs, threadKeys("many-7").runOrder]],
  "record cannot be read": [["LSET", threadKeys("cid-one").messages, "699", "1\nno JSON"]],
  "restore has not ended": [
    [
      "SET",
      globalKeys.restoring,
      JSON.stringify({ sha256: "", takenAtMs: 1, done: 1, channels: [], holders: [] }),
    ],
  ],
};

/** How each rule of a channel's orders is broken, and where that is seen. */
const embeddedOrders: Partial<Record<Rule, { where: string[]; plant: (db: Records) => void }>> = {
  "thread is not at its last activity": {
    where: [
      `n bot many ${keyPart("name 7")}`,
      `n bot many ${keyPart("name 8")}`,
      `n bot many ${keyPart("name 9")}`,
    ],
    plant(db) {
      const move = (uid: string, atMs: number | null) => {
        void db.remove(["acts", "bot", Number(db.get(["act", "bot", uid])), uid]);
        if (atMs === null) return void db.remove(["act", "bot", uid]);
        void db.put(["act", "bot", uid], atMs);
        void db.put(["acts", "bot", atMs, uid], uid);
      };
      move("many-7", 5);
      move("many-8", 8_000_000_000_000);
      move("many-9", null);
    },
  },
  "thread is not listed by its state": {
    where: ["n SLUG kim bob-one~2"],
    plant(db) {
      const { atMs } = db.get(["busy", SLUG, "bob-one"]) as { atMs: number };
      void db.remove(["busyat", SLUG, "awaiting", atMs, "bob-one"]);
    },
  },
  "thread is listed by a state that it is not in": {
    where: ["busy SLUG cid-one", "busyat SLUG with_person 6 ann-one"],
    plant(db) {
      void db.put(["busy", SLUG, "cid-one"], { state: "with_person", atMs: 5 });
      void db.put(["busyat", SLUG, "with_person", 5, "cid-one"], "cid-one");
      void db.put(["busyat", SLUG, "with_person", 6, "ann-one"], "ann-one");
    },
  },
  "listed thread is not there": {
    where: ["act SLUG nowhere", "acts SLUG 6 ann-one"],
    plant(db) {
      void db.put(["act", SLUG, "nowhere"], 5);
      void db.put(["acts", SLUG, 5, "nowhere"], "nowhere");
      void db.put(["acts", SLUG, 6, "ann-one"], "ann-one");
    },
  },
  "owner of a thread is not listed": {
    where: [`n bot many ${keyPart("name 11")}`, `n bot many ${keyPart("name 12")}`],
    plant(db) {
      void db.remove(["whose", "bot", "many-11"]);
      void db.put(["whose", "bot", "many-12"], { userId: "nobody", name: "x" });
    },
  },
  "listed owner is of no thread": {
    where: ["whose SLUG gone"],
    plant: (db) => void db.put(["whose", SLUG, "gone"], { userId: "ann", name: "gone" }),
  },
  "blocked user is not listed": {
    where: ["u SLUG cid"],
    plant(db) {
      const { createdAtMs } = db.get(["u", SLUG, "cid"]) as { createdAtMs: number };
      void db.remove(["bl", SLUG, createdAtMs, "cid"]);
    },
  },
  "listed user is not blocked": {
    where: ["bl SLUG 5 ann"],
    plant: (db) => void db.put(["bl", SLUG, 5, "ann"], "ann"),
  },
};

const [act, whose] = [activityKey(SLUG), ownersKey(SLUG)];
const actOfBot = activityKey("bot");
const redisOrders: Partial<Record<Rule, { where: string[]; plant: string[][] }>> = {
  "thread is not at its last activity": {
    where: [`${actOfBot} many-7`, `${actOfBot} many-8`, `${actOfBot} many-9`],
    plant: [
      ["ZADD", actOfBot, "5", "many-7", "8000000000000", "many-8"],
      ["ZREM", actOfBot, "many-9"],
    ],
  },
  "thread is not listed by its state": {
    where: ["bob-one"],
    plant: [["ZREM", busyKey(SLUG, "awaiting"), "bob-one"]],
  },
  "thread is listed by a state that it is not in": {
    where: [`${busyKey(SLUG, "with_person")} cid-one`, `${busyKey(SLUG, "with_person")} nowhere`],
    plant: [["ZADD", busyKey(SLUG, "with_person"), "5", "cid-one", "6", "nowhere", "7", "going"]],
  },
  "listed thread is not there": {
    where: [`${act} nowhere`, `${act} went`],
    plant: [
      ["ZADD", act, "5", "nowhere", "6", "went", "7", "going"],
      // Of what is just being deleted nothing is said: an instance that went on with it may list it once more.
      ["HSET", whose, "went", "deleted 5", "going", `deleted ${Date.now() + 3_600_000}`],
    ],
  },
  "owner of a thread is not listed": {
    where: [`${ownersKey("bot")} many-11`, `${ownersKey("bot")} many-12`],
    plant: [
      ["HDEL", ownersKey("bot"), "many-11"],
      ["HSET", ownersKey("bot"), "many-12", "nobody x"],
    ],
  },
  "listed owner is of no thread": {
    where: [`${whose} gone`],
    plant: [["HSET", whose, "gone", "ann gone"]],
  },
  "blocked user is not listed": {
    where: [userKeys(SLUG, "cid").user],
    plant: [["ZREM", blockedUsersKey(SLUG), "cid"]],
  },
  "listed user is not blocked": {
    where: [`${blockedUsersKey(SLUG)} ann`],
    plant: [["ZADD", blockedUsersKey(SLUG), "5", "ann"]],
  },
};

async function plant(past: { embedded: (db: Records) => void; redis: string[][] }): Promise<void> {
  if (kind === "embedded") {
    const db = open<unknown, (string | number)[]>({
      path: join(place.env["DATA_DIR"] ?? "", "store"),
      encoding: "json",
    });
    await db.transaction(() => past.embedded(db));
    await db.flushed;
    await db.close();
    return;
  }
  const client = redisClient(place.env["REDIS_URL"] ?? "");
  await client.connect();
  for (const command of past.redis) await client.sendCommand(command);
  client.destroy();
}

function breakRule(rule: Rule): Promise<void> {
  return plant({ embedded: (db) => embedded[rule]?.(db), redis: onRedis[rule] ?? [] });
}

const broken = Object.keys(kind === "embedded" ? embedded : onRedis) as Rule[];
const orders = kind === "embedded" ? embeddedOrders : redisOrders;

/** As a service does that runs on it. */
async function fillOrders(): Promise<void> {
  const store = await place.open();
  while (await store.fillOrders());
  await store.close();
}

async function check(...more: string[]) {
  const { code, out, err } = await store(place.env, "check", "--json", ...more);
  if (out === "") throw new Error(err);
  const { faults } = JSON.parse(out) as {
    faults: {
      fault: Rule;
      where: string;
      repair: string | null;
      decision: string | null;
      repaired: boolean;
    }[];
  };
  return { code, faults };
}

describe(`the check of the ${kind} store`, () => {
  test("finds nothing where nothing is wrong", async () => {
    expect(await check()).toEqual({ code: 0, faults: [] });
    expect((await store(place.env, "check")).out).toBe("Everything fits together\n");
  });

  test("has every rule broken here that can be broken", () => {
    const never = kind === "embedded" ? ["channel is listed and not there", "channel is not listed"] : [];
    expect([...broken, ...Object.keys(orders), ...never].toSorted()).toEqual(Object.keys(RULES).toSorted());
  });

  test.each(rowsAtLength(broken, 3))("finds: %s; and mends it where that can be mended", async (rule) => {
    await breakRule(rule);
    const found = await check();
    const mended = RULES[rule] !== null;
    expect(found).toMatchObject({ code: 1, faults: [{ fault: rule, repair: RULES[rule], repaired: false }] });
    expect(found.faults.length).toBe(1);
    // Telling of it changes nothing.
    expect((await check()).faults).toEqual(found.faults);

    const repaired = await check("--repair");
    expect(repaired).toMatchObject({ code: mended ? 0 : 1, faults: [{ fault: rule, repaired: mended }] });
    expect(await check()).toMatchObject(mended ? { code: 0, faults: [] } : { code: 1 });
    expect(found.faults.map(({ decision }) => decision !== null)).toEqual([!mended]);
  });

  test("E2: says what a person must decide of a thread without a name, and fits together once that is done", async () => {
    await breakRule("thread has no name");
    const { out, err } = await store(place.env, "check", "--repair");
    expect(out).toContain("threads delete SLUG ID");
    expect(err).toContain("about 1 of them a person must decide");
    const deleted = await runCommand(place.env, ["threads", "delete", SLUG, "many-7"]);
    expect(deleted.err + deleted.out).toContain("Deleted thread many-7");
    expect(await check()).toEqual({ code: 0, faults: [] });
  });

  test("finds what the channels' orders say beside their records, and mends all of it", async () => {
    const planted = Object.entries<{ where: string[] }>(orders).flatMap(([rule, { where }]) =>
      where.map((at) => `${rule}: ${at.replace("SLUG", SLUG)}`),
    );
    const toldOf = ({ faults }: Awaited<ReturnType<typeof check>>) =>
      faults.map(({ fault, where }) => `${fault}: ${where}`).toSorted();
    await fillOrders();
    expect(await check()).toEqual({ code: 0, faults: [] });
    await plant({
      embedded: (db) => Object.values(embeddedOrders).forEach(({ plant: one }) => one(db)),
      // Nobody works on it: what lists lack is not on its way.
      redis: [
        ["DEL", globalKeys.instances],
        ...Object.values(redisOrders).flatMap(({ plant: commands }) => commands),
      ],
    });
    const found = await check();
    expect([found.code, toldOf(found)]).toEqual([1, planted.toSorted()]);
    const repaired = await check("--repair");
    expect(toldOf(repaired)).toEqual(planted.toSorted());
    expect(repaired.faults.filter((one) => !one.repaired)).toEqual([]);
    expect(await check()).toEqual({ code: 0, faults: [] });

    const store = await place.open();
    const page = { limit: 50, after: null, sinceMs: 0, untilMs: Infinity };
    const awaiting = await store.channelThreads(SLUG, { ...page, state: "awaiting" });
    expect(awaiting.items.map(({ uid }) => uid)).toEqual(["bob-one"]);
    const all = await store.channelThreads("bot", { ...page, limit: 500 });
    expect(all.items.length).toBe(450);
    expect(all.items.map(({ updatedAtMs }) => updatedAtMs)).toEqual(
      all.items.map(({ updatedAtMs }) => updatedAtMs).toSorted((a, b) => b - a),
    );
    await store.close();
  });

  test("prints what is wrong, where, and what a repair would do", async () => {
    await breakRule("token never ends");
    const { code, out, err } = await store(place.env, "check");
    expect(code).toBe(1);
    expect(out).toMatch(
      /^FAULT +WHERE +REPAIR +DONE\ntoken never ends +\S.*hash-ann +lets it end in a day +no\n$/,
    );
    expect(err).toBe("Cannot call the store sound: 1 of its records do not fit\n");
    expect(await storeJson(place.env, "info")).toMatchObject({ tokens: 3 });
  });
});
