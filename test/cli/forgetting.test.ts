// For src/cli/users.ts, src/cli/threads.ts, src/cli/store/deletions.ts
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";

const slug = "shop";

/** A store with an account that has two threads, in which something was said. */
async function prepared() {
  const dataDir = temporaryFolder();
  const withStore = async <Result>(use: (store: Store) => Promise<Result>): Promise<Result> => {
    const store = await openEmbeddedStore({ dataDir, clock: systemClock });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  };
  await withStore(async (store) => {
    await store.putChannel(sampleChannel({ slug }));
    for (const nth of [1, 2]) {
      const thread = { name: `order-${nth}`, newUid: `uid-${nth}` };
      const caller = { slug, externalId: "kim", displayName: "Kim", newUserId: "u-kim", thread };
      await store.admitUser({ ...caller, creates: true, atMs: nth });
      const said = {
        uid: `uid-${nth}`,
        slug,
        state: "idle",
        holds: false,
        messages: [sampleMessage(1)],
      } as const;
      await store.commit(
        sampleCommit({ opId: `o-${nth}`, fence: "p:1", ...said, messages: [sampleMessage(1)] }),
      );
    }
  });
  const run = (...args: string[]) => runCommand({ DATA_DIR: dataDir }, args);
  const audit = () =>
    withStore(async (store) =>
      (await store.audit({ limit: 9, after: null, sinceMs: 0 })).items.map(({ entry }) => entry),
    );
  return { run, withStore, audit };
}

test("threads delete removes one conversation, by its id or the caller's own; it is in the audit by id", async () => {
  const { run, withStore, audit } = await prepared();
  const byId = await run("threads", "delete", slug, "uid-1");
  expect([byId.code, byId.out]).toEqual([0, "Deleted thread uid-1\n"]);
  await withStore(async (store) => {
    expect(await store.load("uid-1", 9)).toBeNull();
    expect((await store.threads(slug, "u-kim")).map(({ uid }) => uid)).toEqual(["uid-2"]);
  });
  const again = await run("threads", "delete", slug, "uid-1");
  expect(again.code).toBe(1);
  expect(again.err).toContain("Cannot find thread uid-1");
  const byName = await run("threads", "delete", slug, "order-2", "--user", "kim", "--json");
  expect(JSON.parse(byName.out)).toEqual({ deleted: { id: "uid-2" } });
  const entry = { operator: "command line", action: "threads.delete", slug };
  expect(await audit()).toMatchObject([
    { ...entry, target: "uid-2" },
    { ...entry, target: "uid-1" },
  ]);
});

test("users delete removes the user with all conversations", async () => {
  const { run, withStore, audit } = await prepared();
  const { code, out } = await run("users", "delete", slug, "kim", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ deleted: { userId: "u-kim", threads: 2 } });
  await withStore(async (store) => {
    expect(await store.findUser(slug, "kim")).toBeNull();
    for (const uid of ["uid-1", "uid-2"]) expect(await store.load(uid, 9)).toBeNull();
  });
  expect((await run("users", "show", slug, "kim")).code).toBe(1);
  expect((await run("users", "delete", slug, "kim")).code).toBe(1);
  expect(await audit()).toMatchObject([
    { operator: "command line", action: "users.delete", target: "u-kim" },
  ]);
});

test("users export prints a record a line: the user, and each thread with its messages and runs", async () => {
  const { run, audit } = await prepared();
  const { code, out, err } = await run("users", "export", slug, "kim");
  expect([code, err]).toEqual([0, ""]);
  const lines = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.map(({ type }) => type).join(" ")).toBe("user thread message run thread message run");
  expect(lines[2]).toMatchObject({ thread: "uid-1", id: "1", role: "user", content: "text 1" });
  expect(await audit()).toMatchObject([
    { operator: "command line", action: "users.export", target: "u-kim" },
  ]);
});
