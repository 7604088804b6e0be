// For src/stores/embedded.ts, src/stores/engines/lmdb/compact.ts, src/stores/engines/lmdb/data-dir-lock.ts
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { forget } from "../../../src/threads/delete/forget.ts";
import type { Store } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { lockDataDir } from "../../../src/stores/engines/lmdb/data-dir-lock.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { filesWith } from "../../support/house/files-with.ts";
import { redisClient } from "../../support/stores/redis-client.ts";
import { openRedisWithFile } from "../../support/stores/redis-file.ts";
import { runCommand } from "../../support/terminal.ts";
import { sampleChannel, sampleCommit, sampleMessage, SLUG } from "../samples.ts";

const CANARY = "my secret is 4711";
const isOn = (kind: "embedded" | "redis") => inject("stores").includes(kind);

/** Threads of an account, of which every second one is deleted. */
async function fillAndForget(store: Store): Promise<void> {
  await store.putChannel(sampleChannel());
  const all = Array.from({ length: 40 }, (_, nth) => nth);
  await Promise.all(
    all.map(async (nth) => {
      const [uid, word] = [`t${nth}`, nth % 2 === 0 ? CANARY : "nothing"];
      const caller = { slug: SLUG, externalId: "kim", displayName: null, newUserId: "u1", creates: true };
      await store.admitUser({ ...caller, thread: { name: uid, newUid: uid }, atMs: nth });
      const messages = [sampleMessage(1, { content: `${word} `.repeat(50) })];
      const rests = { state: "idle", holds: false } as const;
      await store.commit(sampleCommit({ uid, opId: uid, fence: "p:1", ...rests, messages }));
    }),
  );
  const deleted = all.filter((nth) => nth % 2 === 0);
  await Promise.all(
    deleted.map((nth) => forget(store, { kind: "thread", slug: SLUG, id: `t${nth}`, atMs: 9_000 })),
  );
}

async function openFolder(dataDir: string, use: (store: Store) => Promise<void>): Promise<void> {
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  try {
    await use(store);
  } finally {
    await store.close();
  }
}

const leftIn = async (store: Store) => (await store.threads(SLUG, "u1")).length;

describe.skipIf(!isOn("embedded"))("store compact, of the embedded store", () => {
  async function filled() {
    const dataDir = emptyFolder();
    await openFolder(dataDir, fillAndForget);
    return { dataDir, file: join(dataDir, "store", "data.mdb"), env: { DATA_DIR: dataDir } };
  }

  test("leaves nothing of what was deleted in the file, and everything else", async () => {
    const { dataDir, file, env } = await filled();
    expect(filesWith(dataDir, CANARY)).toEqual([file]);
    const ran = await runCommand(env, ["store", "compact", "--json"]);
    expect(JSON.parse(ran.out)).toEqual({
      kind: "embedded",
      bytesBefore: expect.any(Number) as number,
      bytesAfter: statSync(file).size,
    });
    expect(filesWith(dataDir, CANARY)).toEqual([]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(join(dataDir, "store.compacting"))).toBe(false);
    await openFolder(dataDir, async (store) => {
      expect(await leftIn(store)).toBe(20);
      expect((await store.history("t1", { limit: 9, before: null }))[0]?.content).toMatch(/^nothing/);
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "new", uid: "new", atMs: 1 });
    });
    expect((await runCommand(env, ["store", "check"])).code).toBe(0);
    expect((await runCommand(env, ["store", "compact"])).out).toMatch(
      /^Compacted the store in .+ before, .+ now\n$/,
    );
    await openFolder(dataDir, async (store) => expect(await leftIn(store)).toBe(21));
  });

  test("is refused while somebody serves the folder, and changes nothing", async () => {
    const { dataDir, file, env } = await filled();
    const before = readFileSync(file);
    const release = await lockDataDir(dataDir);
    const ran = await runCommand(env, ["store", "compact"]);
    await release();
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toMatch(/^Cannot compact the store: .+another process serves it\n$/);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test("goes on after one that died before its rename, and after one that died behind it", async () => {
    const { dataDir, file, env } = await filled();
    const half = join(dataDir, "store.compacting");
    mkdirSync(half);
    writeFileSync(join(half, "data.mdb"), readFileSync(file).subarray(0, 10_000));
    await openFolder(dataDir, async (store) => expect(await leftIn(store)).toBe(20));
    const lock = join(dataDir, "store", "lock.mdb");
    copyFileSync(lock, join(dataDir, "lock"));
    expect((await runCommand(env, ["store", "compact"])).code).toBe(0);
    expect(existsSync(half)).toBe(false);
    // The lock file of the file that was there before.
    copyFileSync(join(dataDir, "lock"), lock);
    await openFolder(dataDir, async (store) => {
      expect(await leftIn(store)).toBe(20);
      await store.addThread({ slug: SLUG, userId: "u1", threadId: "new", uid: "new", atMs: 1 });
    });
    await openFolder(dataDir, async (store) => expect(await leftIn(store)).toBe(21));
  });
});

describe.skipIf(!isOn("redis"))("store compact, of Redis", () => {
  test("leaves nothing of what was deleted in the append-only file", async () => {
    const { server, store } = await openRedisWithFile();
    await fillAndForget(store);
    expect(filesWith(server.dir, CANARY)).not.toEqual([]);
    const ran = await runCommand({ REDIS_URL: server.url, DATA_DIR: emptyFolder() }, ["store", "compact"]);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toMatch(/^Rewrote the append-only file of 1 of 1 primaries/);
    expect(filesWith(server.dir, CANARY)).toEqual([]);
    await server.restart();
    await expect.poll(() => leftIn(store).catch(() => null), { timeout: 30_000 }).toBe(20);
  });

  test("says that there is nothing to rewrite, and whom to ask where the service's user may not", async () => {
    const { server } = await openRedisWithFile();
    const compact = (url: string) =>
      runCommand({ REDIS_URL: url, DATA_DIR: emptyFolder() }, ["store", "compact"]);
    const client = await redisClient(server.url).connect();
    onTestFinished(() => client.destroy());
    const rights = ["~*", "&*", "+@all", "-bgrewriteaof"];
    await client.sendCommand(["ACL", "SETUSER", "chat", "on", ">s3cret", ...rights]);
    const refused = await compact(server.url.replace("redis://", "redis://chat:s3cret@"));
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toMatch(/^Cannot compact the store: .*BGREWRITEAOF as another user.*\n$/);
    await client.sendCommand(["CONFIG", "SET", "appendonly", "no"]);
    expect((await compact(server.url)).out).toMatch(/^Nothing to rewrite/);
  });
});
