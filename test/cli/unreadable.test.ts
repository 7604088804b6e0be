// For src/cli/command/unreadable.ts, src/cli/store/check.ts
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { openLmdbEngine } from "../../src/stores/engines/lmdb/engine.ts";
import { slotOf } from "../../src/stores/engine.ts";
import { tables } from "../../src/stores/tables.ts";
import { sampleChannel } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";

/** A store with a channel and an operator that can be read, and one of each that cannot. */
async function halfReadable() {
  const dataDir = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  for (const slug of ["shop", "torn"])
    await store.putChannel(sampleChannel({ slug, publishableKey: `pk_${slug}` }));
  await store.addOperator({ name: "ada", role: "admin", keyHash: "0".repeat(64), channels: null });
  await store.close();
  const engine = await openLmdbEngine({ dataDir, clock: systemClock });
  for (const [key, field] of [
    [tables.channel.key("torn"), "json"],
    [tables.operators.key, "bob"],
  ] as const) {
    const writes = [{ write: "set", key, fields: [[field, "{"]] }] as const;
    await engine.apply({ slot: slotOf(key), checks: [], writes });
  }
  await engine.close();
  return { DATA_DIR: dataDir };
}

test.each([
  ["channels", "shop", "torn"],
  ["operators", "ada", "bob"],
])("%s list prints %s, and says on stderr alone that %s cannot be read", async (family, whole, torn) => {
  const env = await halfReadable();
  const { code, out, err } = await runCommand(env, [family, "list"]);
  expect(code).toBe(0);
  expect(out).toContain(whole);
  expect(out).not.toContain(torn);
  expect(err.trimEnd().split("\n")).toEqual([expect.stringContaining(torn)]);
});

test("a command on a channel that cannot be read exits 1 and says so", async () => {
  const env = await halfReadable();
  const { code, out, err } = await runCommand(env, ["users", "list", "torn"]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toMatch(/^Cannot .*torn.*\n$/);
});
