// For src/stores/backup/deletions.ts, src/stores/engine.ts, src/stores/steps/codec.ts,
// src/stores/steps/deletions.ts, src/stores/tables.ts
import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Deletion } from "../../../src/store.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import type { Write } from "../../../src/stores/engine.ts";
import { codecOn } from "../../../src/stores/steps/codec.ts";
import { deletionSteps } from "../../../src/stores/steps/deletions.ts";
import { bucketOf, externalId, HEADER, tables, TOKEN, USER } from "../../../src/stores/tables.ts";
import { createMemoryEngine } from "../engine/memory-engine.ts";
import { SLUG } from "../samples.ts";

const FENCE = "p:a";
const ofThread: Deletion = { kind: "thread", slug: SLUG, id: "t1", atMs: 9_000 };
const ofUser: Deletion = { kind: "user", slug: SLUG, id: "u1", atMs: 9_000 };

const set = (key: string, ...fields: [string, string][]): Write => ({ write: "set", key, fields });
const put = (key: string, member: string, score = 1): Write => ({
  write: "put",
  key,
  members: [[member, score]],
});

/** Everything that a user and a thread can have, and what others have beside it. */
function contents(uid: string, userId: string): Write[] {
  const bucket = bucketOf(uid);
  return [
    set(
      tables.header.key(uid),
      ...Object.values(HEADER)
        .filter(isOfLiving)
        .map((field): [string, string] => [field, field === HEADER.fence ? FENCE : "3"]),
    ),
    ...[
      tables.messages,
      tables.waiting,
      tables.runs,
      tables.parts,
      tables.claims,
      tables.outbox,
      tables.aside,
    ].map((table) => set(table.key(uid), ["1", "text"])),
    put(tables.runOrder.key(uid), "run"),
    put(tables.due.key(bucket), uid),
    set(tables.held.key(bucket, "p"), [uid, FENCE]),
    ...[tables.activity, tables.changed].map((table) => put(table.key(SLUG), uid)),
    put(tables.busy.key(SLUG, "running"), uid),
    set(tables.owners.key(SLUG), [uid, `${userId} the ${uid}`]),
    set(tables.names.key(SLUG, userId), [`the ${uid}`, `${uid} 1`]),
    set(tables.user.key(SLUG, userId), [USER.id, userId], [USER.external, userId], [USER.threads, "1"]),
    set(tables.external.key(SLUG, externalId(userId)), ["user", userId]),
    put(tables.users.key(SLUG), userId),
    put(tables.blocked.key(SLUG), userId),
    set(tables.token.key(SLUG, `h ${userId}`), [TOKEN.user, userId]),
    set(tables.tokens.key(SLUG, userId), [`h ${userId}`, ""]),
    set(tables.contentKeys.key(SLUG, userId), ["key", "wrapped"]),
    set(tables.days.key(SLUG, userId), ["2026-11-21", "5"]),
    set(tables.moved.key(SLUG, userId), ["into", userId]),
  ];
}

const isOfLiving = (field: string) => field !== HEADER.deletedAtMs && field !== HEADER.lastFence;

async function open() {
  const engine = createMemoryEngine(systemClock);
  for (const write of [...contents("t1", "u1"), ...contents("t2", "u1"), ...contents("t3", "u3")]) {
    await engine.apply({ slot: slotOf(write.key), checks: [], writes: [write] });
  }
  return {
    engine,
    store: deletionSteps({
      engine,
      processId: "p",
      clock: systemClock,
      codec: codecOn(engine, systemClock, {}),
    }),
  };
}

test("nothing that is stored names a deleted user or its threads, but that they were deleted", async () => {
  const { engine, store } = await open();
  expect(await store.unlistUser(ofUser)).toEqual(["t1", "t2"]);
  for (const uid of ["t1", "t2"]) {
    expect(await store.eraseThread(uid, 9_000)).toEqual({ fence: FENCE, watchers: [] });
  }
  const left = Object.entries(engine.dump()).filter(([key, entry]) =>
    /u1|t1|t2/.test(key + JSON.stringify(entry)),
  );
  expect(Object.fromEntries(left)).toEqual({
    [tables.gone.key(SLUG)]: { endsAtMs: Infinity, value: { "t t1": 9_000, "t t2": 9_000, "u u1": 9_000 } },
    [tables.owners.key(SLUG)]: {
      endsAtMs: Infinity,
      value: { t1: "deleted 9000", t2: "deleted 9000", t3: "u3 the t3" },
    },
    ...Object.fromEntries(
      ["t1", "t2"].map((uid) => [
        tables.header.key(uid),
        {
          endsAtMs: Infinity,
          value: { fence: "deleted:3", op: "deleted", lastFence: FENCE, deletedAtMs: "9000" },
        },
      ]),
    ),
  });
  const { engine: other } = await open();
  const untouched = Object.entries(other.dump()).filter(([key]) => /u3|t3/.test(key));
  expect(untouched.length).toBeGreaterThan(10);
  expect(engine.dump()).toMatchObject(Object.fromEntries(untouched));
});

test("a message, or another name, that comes while a thread is deleted is deleted with it", async () => {
  const { engine, store } = await open();
  const header = tables.header.key("t1");
  const read = engine.read.bind(engine);
  let meanwhile: Write | null = set(header, [HEADER.op, "next"], [HEADER.rev, "4"], [HEADER.fence, "q:b"]);
  engine.read = async (reads, how) => {
    const answers = await read(reads, how);
    const [write, key] = [meanwhile, reads[0]?.key];
    if (write && key === write.key) {
      meanwhile = null;
      await engine.apply({ slot: slotOf(write.key), checks: [], writes: [write] });
    }
    return answers;
  };
  expect(await store.eraseThread("t1", 9_000)).toMatchObject({ fence: "q:b" });
  expect(await read([{ read: "fields", key: header, fields: [HEADER.fence] }])).toEqual([["deleted:4"]]);

  meanwhile = set(tables.owners.key(SLUG), ["t2", "u3 moved"]);
  await engine.apply({
    slot: slotOf(meanwhile.key),
    checks: [],
    writes: [set(tables.names.key(SLUG, "u3"), ["moved", "t2 1"])],
  });
  await store.unlistThread({ ...ofThread, id: "t2" });
  expect(await read([{ read: "hash", key: tables.names.key(SLUG, "u3") }])).toEqual([[["the t3", "t3 1"]]]);
});
