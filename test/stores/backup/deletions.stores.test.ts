// For src/stores/backup/deletions.ts, src/stores/steps/deletions/
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { forget } from "../../../src/threads/delete/forget.ts";
import type { Store } from "../../../src/store.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { sampleChannel, sampleCommit, sampleMessage, SLUG } from "../samples.ts";
import { store, storeJson } from "./copy.ts";
import { placeForTest, within } from "./places.ts";

const CANARY = "my secret is 4711";

/** Two accounts with two threads each. */
async function fill(opened: Store): Promise<void> {
  await opened.putChannel(sampleChannel());
  for (const who of ["ada", "kim"]) {
    for (const nth of [1, 2]) {
      const uid = `${who}-${nth}`;
      const caller = { slug: SLUG, externalId: who, displayName: who, newUserId: `u-${who}`, creates: true };
      await opened.admitUser({ ...caller, thread: { name: `n${nth}`, newUid: uid }, atMs: nth });
      const messages = [sampleMessage(1, { content: `${CANARY} of ${uid}` })];
      await opened.commit(
        sampleCommit({ uid, opId: uid, fence: "p:1", state: "idle", holds: false, messages }),
      );
    }
  }
}

describe("a backup of before a deletion", () => {
  test("is restored without what was deleted, and none of it is written", async () => {
    const [lost, fresh] = [await placeForTest(), await placeForTest()];
    const [backup, deletions] = [join(emptyFolder(), "backup"), join(emptyFolder(), "deletions")];
    await within(lost, fill);
    await storeJson(lost.env, "backup", backup);
    const atMs = systemClock.now();
    await within(lost, async (opened) => {
      await forget(opened, { kind: "thread", slug: SLUG, id: "ada-1", atMs });
      await forget(opened, { kind: "user", slug: SLUG, id: "u-kim", atMs });
    });
    expect(await storeJson(lost.env, "deletions", deletions)).toMatchObject({ deletions: 4 });
    expect(readFileSync(deletions, "utf8")).not.toContain(CANARY);

    // A file that is cut or changed is refused before anything is written.
    const broken = `${deletions}.broken`;
    writeFileSync(broken, readFileSync(deletions, "utf8").replace("ada-1", "ada-2"));
    const refused = await store(fresh.env, "restore", backup, "--deletions", broken);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("it is cut or changed")]);

    const told = await storeJson(fresh.env, "restore", backup, "--deletions", deletions);
    expect(told).toMatchObject({ channels: 1, users: 1, threads: 1, messages: 1 });
    await within(fresh, async (opened) => {
      expect((await opened.users(SLUG)).map(({ userId }) => userId)).toEqual(["u-ada"]);
      expect((await opened.threads(SLUG, "u-ada")).map(({ uid }) => uid)).toEqual(["ada-2"]);
      for (const uid of ["ada-1", "kim-1", "kim-2"]) expect(await opened.load(uid, 9)).toBeNull();
      expect((await opened.load("ada-2", 99))?.tail).toMatchObject([{ content: `${CANARY} of ada-2` }]);
    });
    expect((await store(fresh.env, "check")).code).toBe(0);
    const kept = JSON.stringify(await fresh.contents());
    expect(kept).toContain(`${CANARY} of ada-2`);
    for (const uid of ["ada-1", "kim-1", "kim-2"]) expect(kept).not.toContain(`${CANARY} of ${uid}`);
  });

  test("nothing of what was deleted is left in any record of the store that it was deleted in", async () => {
    const here = await placeForTest();
    await within(here, async (opened) => {
      await fill(opened);
      await opened.setCatalog("kim-1", SLUG, [
        { name: "tool", description: `${CANARY} of kim-1`, inputSchema: { type: "object" } },
      ]);
      await opened.keepImages({
        uid: "kim-1",
        runId: "r1",
        images: [`data:image/png;base64,${CANARY} of kim-1`],
      });
      await forget(opened, { kind: "thread", slug: SLUG, id: "ada-1", atMs: 5 });
      await forget(opened, { kind: "user", slug: SLUG, id: "u-kim", atMs: 6 });
    });
    const kept = JSON.stringify(await here.contents());
    expect(kept).toContain(`${CANARY} of ada-2`);
    for (const uid of ["ada-1", "kim-1", "kim-2"]) expect(kept).not.toContain(`${CANARY} of ${uid}`);
    expect((await store(here.env, "check")).code).toBe(0);
  });
});
