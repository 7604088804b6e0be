// For src/stores/engines/lmdb/data-dir-lock.ts
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockBriefly, lockDataDir } from "../../../src/stores/engines/lmdb/data-dir-lock.ts";

const places = process.platform === "linux" ? (["abstract", "file"] as const) : (["file"] as const);

describe.each(places)("lockDataDir() with an %s socket", (place) => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "chat-agent-lock-"));
  });

  afterEach(() => rmSync(dataDir, { recursive: true }));

  it("refuses a second holder until the first lets go", async () => {
    const release = await lockDataDir(dataDir, place);
    await expect(lockDataDir(dataDir, place)).rejects.toThrow(
      `Cannot lock ${dataDir}: another process serves it`,
    );
    await release();
    await release();
    await (
      await lockDataDir(dataDir, place)
    )();
  });

  it("locks the folder, whatever path leads to it", async () => {
    const link = join(dataDir, "link");
    symlinkSync(dataDir, link);
    const release = await lockDataDir(dataDir, place);
    await expect(lockDataDir(link, place)).rejects.toThrow("another process serves it");
    await release();
  });

  it("locks folders apart, and makes one that is missing", async () => {
    const release = await lockDataDir(dataDir, place);
    const folder = join(dataDir, "new", "folder");
    const other = await lockDataDir(folder, place);
    await release();
    await expect(lockDataDir(folder, place)).rejects.toThrow("another process serves it");
    await other();
  });

  it("one of many who try at once holds it", async () => {
    const tries = await Promise.allSettled([1, 2, 3, 4].map(() => lockDataDir(dataDir, place)));
    const held = tries.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(held).toHaveLength(1);
    await held[0]?.();
  });

  it("a command waits for another, and a service for a command; neither waits for a service", async () => {
    const steps: string[] = [];
    const first = await lockBriefly(dataDir, place);
    const second = lockBriefly(dataDir, place).then((release) => {
      steps.push("second");
      return release;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(steps).toEqual([]);
    await first?.();
    const release = await second;
    const serving = lockDataDir(dataDir, place).then((end) => {
      steps.push("served");
      return end;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(steps).toEqual(["second"]);
    await release?.();
    const end = await serving;
    expect(await lockBriefly(dataDir, place)).toBeNull();
    await end();
    expect(steps).toEqual(["second", "served"]);
  });
});
