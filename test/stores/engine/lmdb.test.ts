// For src/stores/engine.ts, src/stores/engines/lmdb/engine.ts, src/stores/engines/lmdb/file.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Step, Write } from "../../../src/stores/engine.ts";
import { openLmdbEngine } from "../../../src/stores/engines/lmdb/engine.ts";
import type { LmdbEngine } from "../../../src/stores/engines/lmdb/engine.ts";
import { openFile } from "../../../src/stores/engines/lmdb/file.ts";
import { describeEngine } from "./engine-contract.ts";

/** What the file has, by name. */
async function recordsIn(dataDir: string): Promise<string[]> {
  const { db, close } = await openFile(join(dataDir, "store"));
  const names = [...db.getKeys({ start: "\0" })];
  await close();
  return names;
}

/** A folder of its own, and a clock that the test sets. */
function folderForTest() {
  const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-store-"));
  let nowMs = Date.UTC(2026, 10, 21);
  const clock = { now: () => nowMs, elapsed: () => nowMs };
  const opened: LmdbEngine[] = [];
  return {
    dataDir,
    clock,
    open: async () => {
      const engine = await openLmdbEngine({ dataDir, clock });
      opened.push(engine);
      return engine;
    },
    elapse: async (ms: number) => {
      nowMs += ms;
    },
    clean: async () => {
      await Promise.all(opened.map((engine) => engine.close()));
      rmSync(dataDir, { recursive: true });
    },
  };
}

describeEngine("lmdb", async () => {
  const { open, elapse, clean } = folderForTest();
  return { engine: await open(), elapse, clean };
});

const SET_KEY = "watch:{t:00}";
const HASH_KEY = "large:{t:00}:a";
const stepOf = (...writes: Write[]): Step => ({ slot: "t:00", checks: [], writes });
const put = (members: [string, number][]): Step => stepOf({ write: "put", key: SET_KEY, members });

describe("the engine on lmdb", () => {
  it("P18: removes what has expired from the file, a part with each change, and leaves what ends later", async () => {
    const { dataDir, open, elapse, clean } = folderForTest();
    onTestFinished(clean);
    const engine = await open();
    const many = Array.from({ length: 1_200 }, (_, nth): [string, number] => [`member ${nth}`, nth]);
    await engine.apply(put(many));
    await engine.apply(stepOf({ write: "expire", key: SET_KEY, inMs: 1_000 }));
    for (const key of ["v:{c:a}:stays", "v:{c:a}:goes"]) {
      await engine.apply(stepOf({ write: "set", key, fields: [["a", "1"]] }));
      await engine.apply(stepOf({ write: "expire", key, inMs: 1_000 }));
    }
    await elapse(500);
    await engine.apply(stepOf({ write: "expire", key: "v:{c:a}:stays", inMs: 100_000 }));
    await elapse(500);

    const change = stepOf({ write: "set", key: HASH_KEY, fields: [["a", "1"]] });
    const sizes: number[] = [];
    for (let nth = 0; nth < 10; nth++) {
      await engine.apply(change);
      sizes.push((await recordsIn(dataDir)).length);
    }
    expect(sizes[0]).toBeGreaterThan(1_000);
    const left = await recordsIn(dataDir);
    expect(left.filter((name) => name.includes("watch:") || name.includes("goes"))).toEqual([]);
    expect(left.filter((name) => name.includes("stays"))).toHaveLength(3);
    await elapse(100_000);
    await engine.apply(change);
    expect((await recordsIn(dataDir)).filter((name) => name.includes("stays"))).toEqual([]);
  });

  it("reads everything of one moment, whatever changes afterwards", async () => {
    const { open, elapse, clean } = folderForTest();
    onTestFinished(clean);
    const engine = await open();
    const members = Array.from({ length: 500 }, (_, nth): [string, number] => [`member ${nth}`, nth]);
    await engine.apply(put(members));
    await engine.apply(stepOf({ write: "set", key: HASH_KEY, fields: [["a", "1"]] }));
    await engine.apply(stepOf({ write: "expire", key: HASH_KEY, inMs: 1_000 }));
    const moment = engine.readMoment();
    await engine.apply(
      stepOf({ write: "drop", key: SET_KEY }, { write: "set", key: "large:{t:00}:b", fields: [["a", "1"]] }),
    );
    await elapse(2_000);

    const walked: [string, number][] = [];
    for await (const page of moment.memberPages(SET_KEY)) walked.push(...page);
    expect(walked.toSorted((a, b) => a[1] - b[1])).toEqual(members);
    const keys: string[] = [];
    for await (const page of moment.keys("")) keys.push(...page);
    expect(keys).toEqual([HASH_KEY, SET_KEY]);
    const [pairs] = await moment.read([{ read: "hash", key: HASH_KEY }]);
    expect(pairs).toEqual([["a", "1"]]);
    moment.close();
    const [now] = await engine.read([{ read: "exists", key: SET_KEY }]);
    expect(now).toBe(false);
  });

  it("gives others a turn after each page of a walk: lmdb's cursors are freed in none but such a turn", async () => {
    const { open, clean } = folderForTest();
    onTestFinished(clean);
    const engine = await open();
    const fields = Array.from({ length: 2_000 }, (_, nth) => [`field ${nth}`, "1"] as const);
    await engine.apply(stepOf({ write: "set", key: HASH_KEY, fields }));
    let turns = 0;
    let isOver = false;
    const count = () => {
      if (isOver) return;
      turns++;
      setImmediate(count);
    };
    setImmediate(count);
    let pages = 0;
    for await (const page of engine.hashPages(HASH_KEY)) pages += page.length > 0 ? 1 : 0;
    isOver = true;
    expect(pages).toBeGreaterThan(5);
    expect(turns).toBeGreaterThanOrEqual(pages - 1);
  });

  it("keeps its format, and opens no file of another one, which it leaves as it is", async () => {
    const { dataDir, open, clean } = folderForTest();
    onTestFinished(clean);
    await (await open()).close();
    await (await open()).close();
    for (const format of ["2", "99"]) {
      const { db, close } = await openFile(join(dataDir, "store"));
      await db.put("format", format);
      await close();
      await expect(open()).rejects.toThrow(`its format is ${format}`);
      expect(await recordsIn(dataDir)).toEqual(["format"]);
    }
    const { db, close } = await openFile(join(dataDir, "store"));
    await db.remove("format");
    await db.put("c\0shop", "{}");
    await close();
    await expect(open()).rejects.toThrow("its format is 1");
  });

  it("that is closed rejects every call, and may be closed again", async () => {
    const { open, clean } = folderForTest();
    onTestFinished(clean);
    const engine = await open();
    await engine.close();
    await engine.close();
    await expect(engine.read([{ read: "exists", key: SET_KEY }])).rejects.toThrow(StoreUnavailable);
    await expect(engine.apply(put([["a", 1]]))).rejects.toThrow(StoreUnavailable);
    await expect(engine.apply(stepOf())).rejects.toThrow(StoreUnavailable);
    expect((await engine.health()).reachable).toBe(false);
  });
});
