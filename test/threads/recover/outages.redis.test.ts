// For src/threads/recover/
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Clock } from "../../../src/clock.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { prepareRedis } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";
import { createInstance, readerOf, says } from "../instance.ts";

/** What the threads do when the store is away, or has lost what it had acknowledged. */
let ground: TestDatabase;
let ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  ground = await prepareRedis();
});

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
  await ground.clear();
});

afterAll(() => ground.remove());

async function instance(options: { clock?: Clock; around?: (store: Store) => Store } = {}) {
  const store = await ground.open();
  const created = createInstance(
    options.around?.(store) ?? store,
    options.clock ? { clock: options.clock } : {},
  );
  ends.push(
    () => store.close(),
    () => created.threads.drain(0),
  );
  await created.threads.start();
  return created;
}

it("P24: a cancel that cannot be saved is told as an outage, and holds nobody up", async () => {
  let away = false;
  let elapsedMs = 0;
  const clock = { now: () => Date.now(), elapsed: () => elapsedMs };
  const here = await instance({
    clock,
    around: (store) => ({
      ...store,
      commit: (commit) => (away ? Promise.reject(new StoreUnavailable("save")) : store.commit(commit)),
    }),
  });
  const reply = readerOf(await here.threads.say(says("t1", "Hello")));
  await here.agent.turn();
  away = true;
  const cancelled = here.threads.cancel("t1");
  cancelled.catch(() => {});
  elapsedMs = 2_000;
  await expect(cancelled).rejects.toBeInstanceOf(StoreUnavailable);
  // What was asked for is done when the store is back.
  away = false;
  expect((await reply.all).at(-1)).toMatchObject({ type: "error" });
  while (here.threads.held() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await here.store.load("t1", 1))?.run?.outcome).toBe("cancelled");
});

it("a stream whose message the store has lost ends in an error line", async () => {
  const here = await instance();
  const there = await instance();
  await here.threads.say(says("t1", "One"));
  await here.agent.turn();
  const waiting = readerOf(await there.threads.say(says("t1", "Two")));
  await ground.clear();
  const last = (await waiting.all).at(-1);
  expect(last).toMatchObject({ type: "error" });
  expect(last).not.toHaveProperty("code");
});
