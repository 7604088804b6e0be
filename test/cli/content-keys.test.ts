// For src/cli/store/rekey.ts
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../stores/samples.ts";
import { contentKey, encrypted } from "../support/stores/content-keys.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";

const CANARY = "canary-of-a-backup";
const setting = (...fills: number[]) =>
  fills.map((fill) => `k${fill}:${contentKey("", fill).key.reveal()}`).join(",");

/** A store whose conversations are encrypted by k1. */
async function prepared(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, clock: systemClock, ...encrypted });
  await speak(store);
  await store.close();
  return dataDir;
}

async function speak(store: Store): Promise<void> {
  await store.putChannel(sampleChannel());
  const thread = { name: "order", newUid: "t1" };
  const caller = { slug: "shop", externalId: "kim", displayName: null, newUserId: "u-kim", thread };
  await store.admitUser({ ...caller, creates: true, atMs: 1 });
  const messages = [sampleMessage(1, { content: CANARY })];
  await store.commit(sampleCommit({ opId: "1", fence: "p:1", state: "idle", holds: false, messages }));
}

const historyOf = (env: Record<string, string>) => runCommand(env, ["threads", "show", "shop", "t1"]);

test("a command that lacks a key says which one, in one line, and prints no text", async () => {
  const DATA_DIR = await prepared();
  expect((await historyOf({ DATA_DIR, CONTENT_KEYS: setting(1) })).out).toContain(CANARY);
  for (const keys of ["", setting(2)]) {
    const { code, out, err } = await historyOf({ DATA_DIR, CONTENT_KEYS: keys });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain("conversations in it are encrypted by k1, which CONTENT_KEYS does not have");
  }
});

test("store rekey wraps every user's key by the first one, and says which may be removed", async () => {
  const DATA_DIR = await prepared();
  const rotated = await runCommand({ DATA_DIR, CONTENT_KEYS: setting(2, 1) }, ["store", "rekey"]);
  expect([rotated.code, rotated.out]).toEqual([
    0,
    "Rekeyed 1 keys of 1 users, 0 were as they should be; nothing needs k1 any more\n",
  ]);
  expect((await historyOf({ DATA_DIR, CONTENT_KEYS: setting(2) })).out).toContain(CANARY);
  expect((await historyOf({ DATA_DIR, CONTENT_KEYS: setting(1) })).code).toBe(1);
  const again = await runCommand({ DATA_DIR, CONTENT_KEYS: setting(2) }, ["store", "rekey", "--json"]);
  expect(JSON.parse(again.out)).toMatchObject({ users: 1, rekeyed: 0, asBefore: 1, failed: [], free: [] });
});

test("store rekey leaves keys that it cannot read as they are, until they are given up", async () => {
  const DATA_DIR = await prepared();
  const CONTENT_KEYS = setting(2);
  expect((await runCommand({ DATA_DIR }, ["store", "rekey"])).err).toContain("no key in front to wrap by");
  const failed = await runCommand({ DATA_DIR, CONTENT_KEYS }, ["store", "rekey"]);
  expect(failed.code).toBe(1);
  expect(failed.err).toContain("shop u-kim: ");
  expect(failed.err).toContain("Cannot rekey 1 of the keys");
  expect((await historyOf({ DATA_DIR, CONTENT_KEYS: setting(1) })).out).toContain(CANARY);
  const own = await runCommand({ DATA_DIR, CONTENT_KEYS }, ["store", "rekey", "--forget", "k2"]);
  expect(own.err).toContain("Cannot forget k2: it is the one in front");
  const forgotten = await runCommand({ DATA_DIR, CONTENT_KEYS }, ["store", "rekey", "--forget", "k1"]);
  expect(forgotten.out).toContain("1 forgotten; nothing needs k1 any more");
  const shown = await historyOf({ DATA_DIR, CONTENT_KEYS });
  expect(shown.out).not.toContain(CANARY);
  expect(shown.err).toContain("the key of its user is gone");
});

test("a backup has the contents as they are stored, and needs the keys where it is restored", async () => {
  const DATA_DIR = await prepared();
  const CONTENT_KEYS = setting(1);
  const file = join(temporaryFolder(), "chats.backup");
  expect((await runCommand({ DATA_DIR }, ["store", "backup", file])).code).toBe(0);
  expect(readFileSync(file).includes(CANARY)).toBe(false);
  expect((await runCommand({ DATA_DIR }, ["store", "check"])).out).toContain("Everything fits together");
  const restored = temporaryFolder();
  expect((await runCommand({ DATA_DIR: restored }, ["store", "restore", file])).code).toBe(0);
  expect((await historyOf({ DATA_DIR: restored, CONTENT_KEYS })).out).toContain(CANARY);
  expect((await historyOf({ DATA_DIR: restored })).err).toContain("encrypted by k1");
});
