// For src/stores/backup/export.ts, src/stores/backup/file.ts, src/stores/backup/records.ts,
// src/stores/backup/restore.ts
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../../src/clock.ts";
import { findFaults } from "../../../src/stores/check/find-faults.ts";
import { exportStore } from "../../../src/stores/backup/export.ts";
import { writeBackup } from "../../../src/stores/backup/file.ts";
import type { BackupRecord } from "../../../src/stores/backup/records.ts";
import { restoreBackup, verifyBackup } from "../../../src/stores/backup/restore.ts";
import type { VerifiedBackup } from "../../../src/stores/backup/restore.ts";
import { UnreadableRecord } from "../../../src/store.ts";
import { suspicionsOf } from "../../../src/stores/check/suspicions.ts";
import { slotOf } from "../../../src/stores/engine.ts";
import { tables } from "../../../src/stores/tables.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { createMemoryEngine, Stopped } from "../engine/memory-engine.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import { saidIn } from "./said-in.ts";

/** Backups that earlier versions took, of all their golden records and of what fill.ts stores. */
const FOLDER = fileURLToPath(new URL("../../versions/backups", import.meta.url));
const files = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".gz"))
  .map((name) => ({ name, path: join(FOLDER, name) }));

/** Before the tokens of the backup have expired. */
function clockOf({ header }: VerifiedBackup): Clock {
  return { now: () => header.takenAtMs, elapsed: () => performance.now() };
}

async function restored(path: string): Promise<{ engine: MemoryEngine; backup: VerifiedBackup }> {
  const backup = await verifyBackup(path);
  const engine = createMemoryEngine(clockOf(backup));
  await restoreBackup(engine, backup, { clock: clockOf(backup) });
  return { engine, backup };
}

async function backedUp(
  engine: MemoryEngine,
  onUnreadable = (error: Error): void => {
    throw error;
  },
): Promise<string> {
  const path = join(temporaryFolder(), "backup");
  const records = exportStore(engine, onUnreadable);
  await written(path, records, engine.timeMs() ?? 0);
  return path;
}

async function written(path: string, records: AsyncIterable<BackupRecord>, takenAtMs: number): Promise<void> {
  const header = { product: "x", store: "redis", takenAtMs } as const;
  await writeBackup(path, header, records);
}

describe.each(files)("the backup $name", ({ path }) => {
  test("is restored, and backed up again it says the same", async () => {
    const { engine } = await restored(path);
    const again = await backedUp(engine);
    const said = saidIn(again);
    expect(said.length).toBeGreaterThan(20);
    expect(said).toEqual(saidIn(path));
    expect(withoutSpeakers(engine)).toEqual(withoutSpeakers((await restored(again)).engine));
  });

  test("is restored into a store in which everything fits together", async () => {
    const { engine } = await restored(path);
    const suspicions = suspicionsOf(engine, { isServed: () => Promise.resolve(false) });
    expect(await findFaults(suspicions)).toEqual({ faults: [], isAll: true });
  });

  test("is restored by any number of attempts that are stopped on the way", async () => {
    const { engine: whole, backup } = await restored(path);
    const engine = createMemoryEngine(clockOf(backup));
    for (let attempt = 0, nth = 1; ; attempt++, nth = Math.ceil(nth * 1.7)) {
      engine.stopBefore(nth);
      try {
        await restoreBackup(engine, backup, { clock: clockOf(backup), atOnce: 7 });
        expect(attempt).toBeGreaterThan(6);
        break;
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
        expect(engine.dump()).toHaveProperty(["restoring:{g}"]);
      }
    }
    expect(withoutChanges(engine)).toEqual(withoutChanges(whole));
  });
});

test("what no store of these had is restored too: keys of users, revoked and limited tokens, events for webhooks", async () => {
  const { backup } = await restored(join(FOLDER, "0.2.0-filled-redis.gz"));
  const { takenAtMs } = backup.header;
  const [channel] = backup.channels;
  if (!channel) throw new Error("Cannot go on: the backup has no channel");
  const { slug } = channel;
  const user = { userId: "u", externalId: "é kim", displayName: null, blocked: true, whitelisted: false };
  const contentKeys = { "shop~u": "enc:v1:k1:abc", "shop~left": "enc:v1:k2:def" };
  const token = { slug, userId: "u", snapshot: "s", expiresAtMs: takenAtMs + 1_000 };
  const event = { nth: "2", endpoint: "e1", text: "=id\n{}" };
  const day = new Date(takenAtMs).toISOString().slice(0, 10);
  const lists = { messagesFrom: 0, messages: [], runsFrom: 0, runs: [], parts: [], claims: [] };
  const records: BackupRecord[] = [
    { type: "channel", channel },
    { type: "stats", slug, day, counts: { messages: 3 }, visitors: 2, speakers: [] },
    {
      type: "thread",
      uid: "t",
      first: true,
      ...lists,
      slug,
      createdAtMs: 5,
      rev: 4,
      fence: null,
      state: "awaiting",
      snapshot: "{}",
      catalog: [],
      run: null,
      waiting: [],
      dueAtMs: 9,
      told: { count: 2, waiting: [event] },
    },
    { type: "names", slug, userId: "u", names: [{ threadId: "n", uid: "t", createdAtMs: 5 }] },
    { type: "user", slug, user, createdAtMs: 7, nth: 3, spent: [], revocations: 2, contentKeys },
    { type: "token", ...token, tokenHash: "h1", revocations: 1, endsAtMs: takenAtMs + 2_000 },
    { type: "token", ...token, tokenHash: "h2", renamed: [{ said: "n", stored: "n~2" }] },
  ];
  const path = join(temporaryFolder(), "all");
  await written(path, Readable.from(records), takenAtMs);
  const { engine } = await restored(path);
  expect(saidIn(await backedUp(engine))).toEqual(saidIn(path));
  expect(engine.dump()["wrappers:{g}"]).toMatchObject({ value: { k1: "", k2: "" } });

  // Tokens that have expired, and days that are no longer kept, are left out.
  const late = createMemoryEngine(clockOf(backup));
  const now = () => takenAtMs + 500 * 86_400_000;
  await restoreBackup(late, await verifyBackup(path), { clock: { ...clockOf(backup), now } });
  expect(Object.keys(late.dump()).filter((key) => /^(v|tk|st):/.test(key))).toEqual([]);
});

test("a token is not restored without its user", async () => {
  const { backup } = await restored(join(FOLDER, "0.2.0-filled-redis.gz"));
  const { takenAtMs } = backup.header;
  const path = join(temporaryFolder(), "token");
  const token = { slug: "shop", tokenHash: "h", userId: "u", snapshot: "s", expiresAtMs: takenAtMs + 1_000 };
  await written(path, Readable.from([{ type: "token", ...token }]), takenAtMs);
  const { engine } = await restored(path);
  expect(Object.keys(engine.dump())).toEqual([]);
});

test("a long thread that cannot be read is left out of a backup, and of what is restored from it", async () => {
  const { engine, backup } = await restored(join(FOLDER, "0.2.0-filled-redis.gz"));
  const key = tables.messages.key("cid-one");
  const writes = [{ write: "set", key, fields: [["900", "7\nnothing"]] }] as const;
  await engine.apply({ slot: slotOf(key), checks: [], writes });
  const unreadable: Error[] = [];
  const file = await backedUp(engine, (error) => void unreadable.push(error));
  expect(unreadable).toEqual([expect.any(UnreadableRecord)]);
  const without = Object.keys((await restored(file)).engine.dump());
  const isOfThread = (name: string) => name.endsWith("}:cid-one");
  const others = Object.keys((await restored(backup.path)).engine.dump()).filter((name) => !isOfThread(name));
  expect(without).toEqual(others);
});

/** Without the sketches of users who sent messages: their members are not in a backup, only how many they were. */
function withoutSpeakers(engine: MemoryEngine): object {
  return Object.entries(engine.dump())
    .filter(([key]) => !key.startsWith("sv:"))
    .map(([key, value]) => (key.startsWith("st:") ? [key] : [key, value]));
}

/** Without how often something changed. */
function withoutChanges(engine: MemoryEngine): object {
  const { "changes:{g}": _, ...dump } = engine.dump();
  return dump;
}
