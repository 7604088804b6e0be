// For src/stores/engines/lmdb/
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { BUDGET_CHARS, sampleChannel, sampleCommit } from "../samples.ts";

/**
 * The store on a disk that has everything only when `flushed` resolves: whether an answer waits for it cannot be seen from
 * outside. All else is lmdb itself.
 */
async function importOnDisk(disk: {
  flushed: Promise<void>;
  /** What is written is refused, as on a full disk. */
  refuses?: boolean;
}): Promise<typeof import("../../../src/stores/embedded.ts")> {
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
  return await import("../../../src/stores/embedded.ts");
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
    expect(Object.fromEntries(modes)).toEqual({ "data.mdb": "600", "lock.mdb": "600" });
    await store.close();
  });
});
