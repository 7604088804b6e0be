// For src/threads/recover/take-up.ts
import { expect, test } from "vitest";
import { createReference } from "../../stores/twin/reference.ts";
import { sampleCommit } from "../../stores/samples.ts";
import { gatedStore } from "../hold/gated-store.ts";
import { answers, createInstance, readerOf, says } from "../instance.ts";
import { pageCall } from "../scripted-agent.ts";
import { setTime } from "../set-time.ts";

const moment = () => new Promise((resolve) => setImmediate(resolve));

/** An instance alone with its store, whose answers to commits can be held back; its time passes while an operator takes `t1`. */
function alone() {
  const time = setTime();
  const gated = gatedStore(createReference(time.clock), "after");
  const here = createInstance({ ...gated.store, processId: "A", send() {}, onMessage() {} }, time);

  async function take(): Promise<number> {
    let isOver = false;
    const acted = { uid: "t1", slug: "shop", name: "ann", epoch: 0 };
    const taking = here.threads.people.take(acted).finally(() => (isOver = true));
    while (!isOver) {
      time.pass(500);
      await moment();
    }
    return taking;
  }

  return { ...here, gated, take };
}

test("a take from a save of this process that has no answer yet: no model is asked when the answer comes", async () => {
  const { threads, agent, store, gated, take } = alone();
  await threads.say(says("t1", "One"));
  const turn = await agent.turn();
  await threads.say(says("t1", "Two"));
  const ending = gated.holdNext();
  turn.finish();
  await ending.reached;
  const beginning = gated.holdNext();
  ending.open();
  await beginning.reached;
  expect(await take()).toBe(1);

  beginning.open();
  await moment();
  expect(agent.turns).toBe(1);
  expect(threads.held()).toBe(0);
  expect(await store.load("t1", 1)).toMatchObject({ state: "with_person", fence: null });
});

test("a take from a claim of this process that has no answer yet: no model is asked when the answer comes", async () => {
  const { threads, agent, store, gated, take } = alone();
  const claim = gated.holdNext();
  const saying = threads.say(says("t1", "One"));
  await claim.reached;
  expect(await take()).toBe(1);

  claim.open();
  const reader = readerOf(await saying);
  await moment();
  expect(agent.turns).toBe(0);
  expect((await reader.all).at(-1)).toMatchObject({ code: "interrupted" });
  expect(threads.held()).toBe(0);
  expect(await store.load("t1", 1)).toMatchObject({ state: "with_person", fence: null });
});

test("a repeated result, of a run that another process has taken from this one: its readers hear nothing more of this one", async () => {
  const { threads, agent, store } = alone();
  await threads.say(says("t1", "Buy"));
  (await agent.turn()).call(pageCall("c1"));
  while (threads.held() > 0) await moment();
  const lost = readerOf(await threads.answer(answers("t1", "c1")));
  (await agent.turn()).write("Lost");
  const record = await store.load("t1", 1);
  if (!record?.run || !record.snapshot) throw new Error("Cannot take the run: it is not there");
  const { uid, slug, rev, lastOp: readOp, fence: takesFrom, snapshot, run } = record;
  const taken = sampleCommit({
    opId: "takes",
    uid,
    slug,
    fence: "B:1",
    rev,
    readOp,
    takesFrom,
    snapshot,
    run,
  });
  expect(await store.commit(taken)).toMatchObject({ type: "committed" });

  const again = readerOf(await threads.answer(answers("t1", "c1")));
  await moment();
  expect(again.lines).toMatchObject([{ type: "step", id: "cart", phase: "done" }]);
  expect((await lost.all).at(-1)).toMatchObject({ code: "interrupted" });
  expect(threads.held()).toBe(0);
});
