import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { UnreadableRecord } from "../../src/store.ts";
import { STORE_FORMAT } from "../../src/stores/format.ts";
import { readNumber } from "../../src/stores/records.ts";
import { openDb } from "../../src/stores/embedded/db.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { dumpEmbedded } from "./dump-embedded.ts";
import { BUDGET_CHARS, SLUG, sampleChannel, sampleCommit, sampleMessage } from "./samples.ts";
import { admit } from "./contract-users.ts";

/**
 * The store on a disk that has everything only when `flushed` resolves: whether an answer waits for it cannot be seen from
 * outside. All else is lmdb itself.
 */
async function importOnDisk(disk: {
  flushed: Promise<void>;
  /** What is written is refused, as on a full disk. */
  refuses?: boolean;
}): Promise<typeof import("../../src/stores/embedded.ts")> {
  vi.doMock(import("lmdb"), async (importOriginal) => {
    const lmdb = await importOriginal();
    const open = ((options: Parameters<typeof lmdb.open>[0]) =>
      new Proxy(lmdb.open(options as { path: string }), {
        get(db, name) {
          if (name === "flushed") return disk.flushed.then(() => db.flushed);
          if (name === "put" && disk.refuses) throw new Error("no space left on the disk");
          const value: unknown = Reflect.get(db, name);
          return typeof value === "function" ? (value.bind(db) as unknown) : value;
        },
      })) as typeof lmdb.open;
    return { ...lmdb, open };
  });
  vi.resetModules();
  onTestFinished(() => {
    vi.doUnmock("lmdb");
    vi.resetModules();
  });
  return await import("../../src/stores/embedded.ts");
}

describe("the embedded store's files", () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "chat-agent-files-"));
  });

  afterEach(() => rmSync(dataDir, { recursive: true }));

  it("P1, P2: a change is acknowledged only when it is on disk", async () => {
    const disk = { flushed: Promise.resolve() };
    const { openEmbeddedStore: openOnDisk } = await importOnDisk(disk);
    const store = await openOnDisk({ dataDir, clock: systemClock });
    let written = () => {};
    disk.flushed = new Promise((resolve) => (written = resolve));
    // The store's deadline, which a busy machine may miss, does not pass.
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const acknowledged = vi.fn<() => void>();
    const commit = store.commit(sampleCommit({ opId: "1", fence: "p:a" })).then(acknowledged);
    // Committed, and seen by every reader: but a power cut would still lose it.
    while ((await store.load("t1", BUDGET_CHARS)) === null) await setImmediate();
    await setImmediate();
    expect(acknowledged).not.toHaveBeenCalled();
    written();
    await commit;
    expect(acknowledged).toHaveBeenCalled();
    await store.close();
  });

  it("P24: health says no while the file takes no change, and yes after it", async () => {
    const disk = { flushed: Promise.resolve(), refuses: false };
    const { openEmbeddedStore: openOnDisk } = await importOnDisk(disk);
    const store = await openOnDisk({ dataDir, clock: systemClock });
    expect((await store.health()).reachable).toBe(true);
    disk.refuses = true;
    expect((await store.health()).reachable).toBe(false);
    disk.refuses = false;
    expect((await store.health()).reachable).toBe(true);
    await store.close();
  });

  it.each([
    { leftMiB: 1_000, reachable: true, warns: false },
    { leftMiB: 50, reachable: true, warns: true },
    { leftMiB: 0.5, reachable: false, warns: true },
  ])("P24: health with $leftMiB MiB left on the disk", async ({ leftMiB, reachable, warns }) => {
    vi.doMock(import("node:fs/promises"), async (importOriginal) => {
      const fs = await importOriginal();
      const statfs = (async () => ({
        bavail: leftMiB * 2 ** 8,
        bsize: 2 ** 12,
      })) as unknown as typeof fs.statfs;
      return { ...fs, statfs };
    });
    onTestFinished(() => vi.doUnmock("node:fs/promises"));
    const { openEmbeddedStore: openOnDisk } = await importOnDisk({ flushed: Promise.resolve() });
    const store = await openOnDisk({ dataDir, clock: systemClock });
    const health = await store.health();
    expect([health.reachable, health.warnings.length > 0]).toEqual([reachable, warns]);
    await store.close();
  });

  it("are readable by their owner alone", async () => {
    const store = await openEmbeddedStore({ dataDir: join(dataDir, "new"), clock: systemClock });
    await store.putChannel(sampleChannel());
    const folder = join(dataDir, "new", "store");
    const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
    expect(modeOf(join(dataDir, "new"))).toBe("700");
    expect(modeOf(folder)).toBe("700");
    const modes = readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]);
    expect(Object.fromEntries(modes)).toEqual({ "data.mdb": "600", "lock.mdb": "600", processes: "700" });
    await store.close();
  });

  it("carry the format; one of an earlier version is raised, one of a later version is not opened", async () => {
    const open = () => openEmbeddedStore({ dataDir, clock: systemClock });
    const formatOf = async () => {
      const db = await openDb(dataDir);
      const found = await db.read("read the format", () => db.get(["format"], readNumber));
      await db.close();
      return found;
    };
    const write = async (format: unknown) => {
      const db = await openDb(dataDir);
      await db.change("write another format", () => db.put(["format"], format));
      await db.close();
    };
    await (await open()).close();
    expect(await formatOf()).toBe(STORE_FORMAT);
    await write(1);
    await (await open()).close();
    expect(await formatOf()).toBe(STORE_FORMAT);
    for (const later of [STORE_FORMAT + 1, "none"]) {
      await write(later);
      await expect(open()).rejects.toThrow(
        `Cannot open the store in ${dataDir}: its format is ${later}, this version reads up to ${STORE_FORMAT}; start the`,
      );
    }
  });

  it("P18: expired tokens are swept by the new ones", async () => {
    let nowMs = 0;
    const store = await openEmbeddedStore({ dataDir, clock: { now: () => nowMs, elapsed: () => nowMs } });
    await store.putChannel(sampleChannel());
    const mint = (name: string) =>
      store.mintVisitor({ slug: SLUG, tokenHash: name, userId: name, snapshot: "s", ttlMs: 1_000, atMs: 1 });
    await Promise.all(Array.from({ length: 40 }, (_, index) => mint(`old${index}`)));
    nowMs += 2_000;
    for (let index = 0; index < 25; index++) await mint(`new${index}`);
    const { tokens } = await dumpEmbedded(dataDir);
    expect(tokens.map(({ userId }) => userId).filter((userId) => userId.startsWith("old"))).toEqual([]);
    expect(tokens).toHaveLength(25);
    expect(await admit(store, "new7")).not.toBeNull();
    await store.close();
  });

  it("a record that does not fit is named with its key, and is no outage; a field of a later version is let through", async () => {
    const store = await openEmbeddedStore({ dataDir, clock: systemClock });
    await store.commit(sampleCommit({ opId: "1", fence: "p:a", messages: [sampleMessage(1)] }));
    const db = await openDb(dataDir);
    const later = { ...sampleMessage(1), addedLater: 1 };
    await db.change("write a later version's message", () => db.put(["m", "t1", 1], later));
    // A reading may go on for a moment on the state that it began with.
    await expect.poll(() => store.history("t1", { limit: 1, before: null })).toEqual([later]);
    await db.change("write half a message", () => db.put(["m", "t1", 1], { id: "1" }));
    const fault = new UnreadableRecord("message", "m,t1,1", "its role does not fit");
    const faultOfLoad = () => store.load("t1", BUDGET_CHARS).catch((error: unknown) => error);
    await expect.poll(faultOfLoad).toEqual(fault);
    await db.change("write half a thread", () => db.put(["h", "t1"], { slug: SLUG }));
    const change = store.commit(sampleCommit({ opId: "2", fence: "p:a", rev: 1, readOp: "1" }));
    await expect(change).rejects.toThrow("Cannot read the thread at h,t1: its createdAtMs does not fit");
    await db.close();
    await store.close();
  });

  it("P24: a step that fails leaves nothing behind, and says what could not be done", async () => {
    const store = await openEmbeddedStore({ dataDir, clock: systemClock });
    const unwritable = sampleMessage(2, { content: 1n as unknown as string });
    const commit = sampleCommit({ opId: "1", fence: "p:a", messages: [sampleMessage(1), unwritable] });
    await expect(store.commit(commit)).rejects.toThrow("Cannot save thread t1: the store does not answer");
    expect(await store.load("t1", BUDGET_CHARS)).toBeNull();
    expect(await store.runs("t1", 10)).toEqual([]);
    await store.close();
  });
});
