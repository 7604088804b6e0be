// For src/stores/backup/restore.ts, src/stores/backup/
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { restoreBackup, verifyBackup } from "../../../src/stores/backup/restore.ts";
import type { Engine } from "../../../src/stores/engine.ts";
import { tables } from "../../../src/stores/tables.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { sampleChannel, sampleCommit, SLUG } from "../samples.ts";
import { store, storeJson } from "./copy.ts";
import { fillStore, HOLDER } from "./fill.ts";
import { here, openPlace, placeForTest, within } from "./places.ts";
import type { StorePlace } from "./places.ts";

/** Two backups, of two stores. */
let backup: string;
let other: string;
let restored: Record<string, unknown>;
beforeAll(async () => {
  const folder = emptyFolder();
  backup = join(folder, "backup");
  other = join(folder, "other");
  const filled = await openPlace(here);
  const empty = await openPlace(here);
  const whole = await openPlace(here);
  try {
    await within(filled, fillStore);
    await storeJson(filled.env, "backup", backup);
    await within(empty, async () => {});
    await storeJson(empty.env, "backup", other);
    await storeJson(whole.env, "restore", backup);
    restored = await whole.contents();
  } finally {
    for (const each of [filled, empty, whole]) await each.remove();
  }
});

describe("a restore", () => {
  const thread = sampleCommit({ opId: "1", fence: "p:1" });
  const visitor = { slug: SLUG, tokenHash: "h", userId: "u", snapshot: "s", ttlMs: 60_000, atMs: 1 };
  const caller = { slug: SLUG, externalId: "kim", displayName: null, newUserId: "u", thread: null };

  test.each<[string, (at: StorePlace) => Promise<unknown>]>([
    ["a thread", (at) => within(at, (opened) => opened.commit(thread))],
    ["a catalog", (at) => within(at, (opened) => opened.setCatalog("t", SLUG, [{ name: "x" }]))],
    ["a visitor with a token", (at) => within(at, (opened) => opened.mintVisitor(visitor))],
    ["a user", (at) => within(at, (opened) => opened.admitUser({ ...caller, creates: true, atMs: 1 }))],
  ])("is refused where there is %s, and changes nothing", async (_, fill) => {
    const at = await placeForTest();
    await within(at, (opened) => opened.putChannel(sampleChannel()));
    await fill(at);
    const before = await at.contents();
    const { code, out, err } = await store(at.env, "restore", backup);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toBe("Cannot restore: the store is not empty, it has users, threads or tokens\n");
    expect(await at.contents()).toEqual(before);
  });

  test("keeps the channels and addresses that the store had, and the backup's come before them", async () => {
    const at = await placeForTest();
    await within(at, async (opened) => {
      await opened.putChannel(sampleChannel({ slug: "own", publishableKey: "pk_own" }));
      await opened.putChannel(sampleChannel({ slug: SLUG, agent: { instructions: "another" } }));
      await opened.putChannel(sampleChannel({ slug: "twin", publishableKey: "pk_shop" }));
      await opened.blockIp("198.51.100.7");
    });
    await storeJson(at.env, "restore", backup);
    await within(at, async (opened) => {
      const channels = await opened.channels();
      expect(channels.map(({ slug }) => slug)).toEqual(["bot", "own", SLUG]);
      expect(channels[2]).toEqual(sampleChannel());
      expect(await opened.blockedIps()).toEqual(["192.0.2.0/24", "198.51.100.7"]);
    });
  });

  test("lets nobody in before it is done, and tells the instances when it is", async () => {
    const at = await placeForTest();
    await within(at, async (opened) => {
      await opened.putChannel(sampleChannel());
      const data = await at.openData();
      const admitted: unknown[] = [];
      const counts: number[] = [];
      const told: boolean[] = [];
      const taken: unknown[] = [];
      const watched = watching(data.engine, async () => {
        admitted.push(await opened.admitUser({ ...caller, creates: true, atMs: 1 }));
        counts.push(await opened.changeCount());
        told.push(await opened.isRestoring());
        // Nor is any run taken over whose channel is not there.
        taken.push(...(await opened.heldBy(HOLDER)), ...(await opened.due(Number.MAX_SAFE_INTEGER, 9)));
      });
      await restoreBackup(watched, await verifyBackup(backup), { atOnce: 4 });
      await data.close();
      expect(admitted.length).toBeGreaterThan(5);
      expect(new Set(admitted)).toEqual(new Set([null]));
      expect(new Set(told)).toEqual(new Set([true]));
      expect(await opened.isRestoring()).toBe(false);
      expect(taken).toEqual([]);
      expect((await opened.heldBy(HOLDER)).map(({ uid }) => uid).toSorted()).toEqual(["ann-two", "cid-two"]);
      expect(await opened.due(Number.MAX_SAFE_INTEGER, 9)).toEqual(["bob-one"]);
      expect(await opened.changeCount()).toBeGreaterThan(Math.max(...counts));
    });
    expect(await at.contents()).toEqual(restored);
  });

  // Before the first step, on the way, and before the last one.
  test.each([0, 2, 4, 6])("that is interrupted at %i sixths goes on where it was", async (sixths) => {
    const whole = await placeForTest();
    await within(whole, (opened) => opened.putChannel(sampleChannel()));
    const steps = await interrupted(whole, Infinity);
    expect(steps).toBeGreaterThan(20);
    const again = await placeForTest();
    await within(again, (opened) =>
      opened.putChannel(sampleChannel({ slug: "own", publishableKey: "pk_own" })),
    );
    await interrupted(again, Math.floor(((steps - 1) * sixths) / 6));

    const { restoring } = await storeJson(again.env, "info");
    expect(restoring).toMatch(/^20\d\d-.*Z$/);
    const refused = await store(again.env, "restore", other);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`restore the backup of ${String(restoring)} again, or empty the store\n`);
    const notEnded = `a restore of the backup of ${String(restoring)} has not ended`;
    await expect(again.open()).rejects.toThrow(`${notEnded}; run \`store restore\` with the same file again`);
    expect((await store(again.env, "check")).out).toContain("restore has not ended");
    const backedUp = await store(again.env, "backup", join(emptyFolder(), "half"));
    expect(backedUp).toMatchObject({ code: 1, out: "", err: expect.stringContaining("has not ended") });
    if (sixths > 0) expect(Object.keys(await again.contents()).length).toBeGreaterThan(5);
    await storeJson(again.env, "restore", backup);
    expect(await storeJson(again.env, "info")).toMatchObject({ restoring: null, channels: 3 });
    expect(withoutOwnChannel(await again.contents())).toEqual(withoutOwnChannel(restored));
  });
});

const INTERRUPTED = new Error("interrupted");

/** How many steps the restore took; it ends after so many. */
async function interrupted(at: StorePlace, after: number): Promise<number> {
  const data = await at.openData();
  let steps = 0;
  const engine = watching(data.engine, () => {
    if (steps++ >= after) throw INTERRUPTED;
    return Promise.resolve();
  });
  try {
    await restoreBackup(engine, await verifyBackup(backup), { atOnce: 1 });
  } catch (error) {
    if (error !== INTERRUPTED) throw error;
  } finally {
    await data.close();
  }
  return steps;
}

/** Looks each time before the note about how far the restore is, but for the first time. */
function watching(engine: Engine, look: () => Promise<void>): Engine {
  let hasBegun = false;
  return {
    ...engine,
    async apply(step, how) {
      const isNote = step.writes.some(({ write, key }) => write === "set" && key === tables.restoring.key);
      if (isNote && hasBegun) await look();
      hasBegun ||= isNote;
      return engine.apply(step, how);
    },
  };
}

/** The channel that the store had before, which the other store had not. */
function withoutOwnChannel(contents: Record<string, unknown>): Record<string, unknown> {
  const isOwn = (key: string) => key === "c:{c:own}" || key === "channels:{g}";
  return Object.fromEntries(Object.entries(contents).filter(([key]) => !isOwn(key)));
}
