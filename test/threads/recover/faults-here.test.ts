// For src/threads/recover/
import { afterEach, beforeEach, expect, it } from "vitest";
import { nobody } from "../../../src/threads/dependencies.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { prepareFolder } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";
import { gatedStore } from "../hold/gated-store.ts";
import { createInstance, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { setTime } from "../set-time.ts";

/** What one process does about faults of its own, on the embedded store: nobody else will look after its threads. */
let database: TestDatabase;
let store: Store;
let instances: Instance[] = [];

beforeEach(async () => {
  database = await prepareFolder();
  store = await database.open();
});

afterEach(async () => {
  for (const { threads } of instances) await threads.drain(0);
  instances = [];
  await store.close();
  await database.remove();
});

function instance(...args: Parameters<typeof createInstance>): Instance {
  const created = createInstance(...args);
  instances.push(created);
  return created;
}

it("P9: a run that could not be taken up at the start is taken up later", async () => {
  const before = createInstance(store);
  await before.threads.say(says("t1", "Hello"));
  await before.agent.turn();
  await before.threads.drain(0);
  await store.close();

  store = await database.open();
  let isAway = true;
  const blinking: Store = {
    ...store,
    commit: (commit) =>
      isAway ? Promise.reject(new StoreUnavailable("save a thread")) : store.commit(commit),
  };
  const time = setTime();
  const here = instance(blinking, time);
  await here.threads.start();
  expect(here.threads.held()).toBe(0);
  isAway = false;
  time.pass(6_000);
  expect((await here.agent.turn()).turn.text).toBe("Hello");
});

it("P24: who re-attaches while a claim's answer is on its way gets the stream, and no busy thread", async () => {
  const answers = gatedStore(store, "after");
  const here = instance(answers.store);
  const answer = answers.holdNext();
  const saying = here.threads.say(says("t1", "Hello"));
  await answer.reached;
  const following = here.threads.follow("t1");
  // Longer than any number of readings takes.
  await here.threads.history("t1", { limit: 1, before: null });
  for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
  answer.open();
  await saying;
  const shown = readerOf((await following)!);
  const turn = await here.agent.turn();
  turn.write("Hi");
  turn.finish();
  expect(textOfLines(await shown.all)).toBe("Hi");
});

it("P9: a thread whose handling threw is given up, and taken up again where it was saved", async () => {
  let faults = 1;
  const observer = {
    ...nobody,
    moved() {
      if (faults-- > 0) throw new Error("a fault of our own");
    },
  };
  const time = setTime();
  const here = instance(store, { ...time, observer });
  await here.threads.start();
  const cut = readerOf(await here.threads.say(says("t1", "Hello")));
  expect((await cut.all).at(-1)).toMatchObject({ type: "error", code: "interrupted" });
  expect(here.complaints).toContain("cannot go on with a thread");
  time.pass(6_000);
  const turn = await here.agent.turn();
  const shown = readerOf((await here.threads.follow("t1"))!);
  turn.write("Hi");
  turn.finish();
  expect(textOfLines(await shown.all)).toBe("Hi");
});

it("P24: an outage at a turn's begin delays the turn, and fails no run", async () => {
  const here = instance(store);
  const think = here.agent.think.bind(here.agent);
  let faults = 2;
  here.agent.think = (...args) =>
    faults-- > 0 ? Promise.reject(new StoreUnavailable("read what a user spent")) : think(...args);
  const reply = readerOf(await here.threads.say(says("t1", "Hello")));
  const turn = await here.agent.turn();
  turn.write("Hi");
  turn.finish();
  expect((await reply.all).map(({ type }) => type)).toEqual(["delta", "done"]);
});
