// For src/visitors/silent-visitors.ts
import { expect, onTestFinished, test } from "vitest";
import { createSilentVisitors } from "../../src/visitors/silent-visitors.ts";
import type { Store } from "../../src/store.ts";
import { StoreUnavailable } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { setTime } from "../threads/set-time.ts";

const TTL_MS = 1_000;
const MINUTE_MS = 60_000;

async function sweeping() {
  const now = { ms: 1_000_000 };
  const clock = { now: () => now.ms, elapsed: () => now.ms };
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock });
  onTestFinished(() => store.close());
  const channels = [
    sampleChannel({ slug: "cli", kind: "transport" }),
    sampleChannel({ slug: "one" }),
    sampleChannel({ slug: "two", publishableKey: "pk_two" }),
  ];
  const time = setTime();
  const pass = (ms: number) => time.pass(ms);
  const logged: string[] = [];
  const open = (over: Pick<Store, "usersPage" | "dropSilentVisitor">) =>
    createSilentVisitors({
      store: over,
      channels: () => channels,
      clock,
      timers: time.timers,
      log: { warn: (_: object, text?: string) => void logged.push(String(text)) },
      ttlMs: TTL_MS,
      random: () => 0,
    });
  const mint = (slug: string, userId: string, atMs: number) =>
    store.mintVisitor({ slug, tokenHash: `h-${userId}`, userId, snapshot: "s", ttlMs: TTL_MS, atMs });
  const left = async (slug: string) => (await store.users(slug)).map(({ userId }) => userId);
  return { now, store, sweep: open(store), open, mint, left, pass, logged };
}

test("silent visitors go when twice a token's lifetime is over, page by page, channel by channel", async () => {
  const { now, store, sweep, mint, left } = await sweeping();
  for (let nth = 0; nth < 250; nth++) await mint("one", `early-${nth}`, now.ms - 2 * TTL_MS - 1);
  await store.addThread({ slug: "one", userId: "early-1", threadId: "n", uid: "t", atMs: 1 });
  await mint("one", "young", now.ms - 2 * TTL_MS);
  await mint("two", "early", 1);
  expect(await sweep.look()).toBe(199);
  expect(await sweep.look()).toBe(50);
  expect(await left("one")).toEqual(["early-1", "young"]);
  expect(await sweep.look()).toBe(1);
  expect(await left("two")).toEqual([]);
  // And from the first one on again.
  now.ms += 1;
  expect(await sweep.look()).toBe(1);
  expect(await left("one")).toEqual(["early-1"]);
});

test("two that sweep at once drop each visitor once", async () => {
  const { store, open, mint, left } = await sweeping();
  for (let nth = 0; nth < 50; nth++) await mint("one", `early-${nth}`, 1);
  const [here, there] = await Promise.all([open(store).look(), open(store).look()]);
  expect(here + there).toBe(50);
  expect(await left("one")).toEqual([]);
});

test("it looks every minute, also after an outage, which it does not tell, and not when it was stopped", async () => {
  const { open, store, pass, logged } = await sweeping();
  let looks = 0;
  let fails: Error | null = new StoreUnavailable("list users", { fact: "a test says so" });
  const sweep = open({
    ...store,
    async usersPage() {
      looks += 1;
      if (fails) throw fails;
      return { items: [], next: null };
    },
  });
  sweep.start();
  pass(MINUTE_MS - 1);
  expect(looks).toBe(0);
  pass(1);
  await expect.poll(() => looks).toBe(1);
  fails = new Error("a bug");
  // The next one is set when the last one is over.
  await expect.poll(() => (pass(MINUTE_MS), looks)).toBeGreaterThan(1);
  await expect.poll(() => logged.length).toBeGreaterThan(0);
  expect(new Set(logged)).toEqual(new Set(["cannot look for silent visitors"]));
  sweep.stop();
  const before = looks;
  pass(10 * MINUTE_MS);
  expect(looks).toBe(before);
});
