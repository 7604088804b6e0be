// For src/stores/engines/lmdb/
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { dumpEmbedded } from "../dump-store.ts";
import { checkInvariants } from "../twin/invariants.ts";

/** Starts the writer, kills it in the middle of its writes, and answers what it had been acknowledged. */
async function writeUntilKilled(dataDir: string, acknowledgements: number): Promise<Map<string, number>> {
  const script = join(import.meta.dirname, "write-until-killed.ts");
  const writer = spawn(process.execPath, ["--import", "tsx", script, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(writer, "exit");
  const counts = new Map<string, number>();
  let seen = 0;
  for await (const line of createInterface({ input: writer.stdout })) {
    const [uid = "", count] = line.split(" ");
    counts.set(uid, Math.max(counts.get(uid) ?? 0, Number(count)));
    if (++seen === acknowledgements) writer.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  expect(signal).toBe("SIGKILL");
  return counts;
}

describe("the embedded store, killed in the middle of its writes", () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "chat-agent-crash-"));
  });

  afterEach(() => rmSync(dataDir, { recursive: true }));

  it("P1, P10: holds everything that it had acknowledged, and no half of a step", async () => {
    for (const acknowledgements of [1, 40, 400, 1_500]) {
      const acknowledged = await writeUntilKilled(dataDir, acknowledgements);
      expect(checkInvariants(await dumpEmbedded(dataDir))).toEqual([]);
      const store = await openEmbeddedStore({ dataDir, clock: systemClock });
      for (const [uid, count] of acknowledged) {
        const record = await store.load(uid, 0);
        expect(record?.messageCount).toBeGreaterThanOrEqual(count);
        // Two messages to a commit: never one of them alone.
        expect(record?.messageCount).toBe(2 * (record?.rev ?? 0));
      }
      const lost = await store.heldBy(null);
      expect(lost.length).toBeGreaterThan(0);
      await store.close();
    }
  });
});
