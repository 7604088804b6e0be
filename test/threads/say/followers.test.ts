// For src/threads/following/followers.ts
import { afterEach, beforeEach, expect, it } from "vitest";
import type { InstanceMessage, Store } from "../../../src/store.ts";
import { prepareFolder } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";
import { createInstance, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { setTime } from "../set-time.ts";

/** What a holder sends to another instance that reads along with its runs. */
let database: TestDatabase;
let store: Store;
let here: Instance;
let time: ReturnType<typeof setTime>;
let tell = (_message: InstanceMessage): void => {};
let sent: InstanceMessage[] = [];

async function open(): Promise<void> {
  store = await database.open();
  time = setTime();
  sent = [];
  const wired: Store = {
    ...store,
    onMessage: (handler) => void (tell = handler),
    send: (to, message) => void sent.push({ sentTo: to, ...message }),
  };
  here = createInstance(wired, time);
}

async function close(): Promise<void> {
  await here.threads.drain(0);
  await store.close();
}

beforeEach(async () => {
  database = await prepareFolder();
  await open();
  await here.threads.start();
});

afterEach(async () => {
  await close();
  await database.remove();
});

const follow = (runId: string, from: number) => tell({ type: "follow", uid: "t1", runId, from, to: "B" });
const delta = (text: string) => ({ type: "delta", text });
/** From where each message told what, and how it ended. */
const told = () => sent.map(({ runId, from, lines, terminal }) => ({ runId, from, lines, terminal }));

it("tells who follows what was said since a position, then each line as it is said, then the end", async () => {
  const { runId } = await here.threads.say(says("t1", "Hello"));
  const turn = await here.agent.turn();
  turn.write("Hel");
  follow(runId, 1);
  turn.write("lo");
  // Asked again from where it is: nothing is told twice.
  follow(runId, 5);
  expect(told()).toEqual([
    { runId, from: 1, lines: [delta("el")], terminal: null },
    { runId, from: 3, lines: [delta("lo")], terminal: null },
  ]);
  turn.finish();
  await expect.poll(() => told().at(-1)).toMatchObject({ from: 5, lines: [], terminal: { type: "done" } });
  expect(sent.map(({ sentTo }) => sentTo)).toEqual(["B", "B", "B"]);
});

it("tells again from an earlier position, where messages were lost", async () => {
  const { runId } = await here.threads.say(says("t1", "Hello"));
  const turn = await here.agent.turn();
  follow(runId, 0);
  turn.write("Hello");
  follow(runId, 2);
  expect(told().at(-1)).toEqual({ runId, from: 2, lines: [delta("llo")], terminal: null });
  turn.write("!");
  expect(told().slice(-1)).toEqual([{ runId, from: 5, lines: [delta("!")], terminal: null }]);
  expect(told().filter(({ from }) => from === 5)).toHaveLength(1);
});

it("drops who has not asked again for five seconds, and keeps who has", async () => {
  const { runId } = await here.threads.say(says("t1", "Hello"));
  const turn = await here.agent.turn();
  follow(runId, 0);
  turn.write("a");
  time.pass(4_000);
  follow(runId, 1);
  time.pass(4_000);
  turn.write("b");
  expect(told().flatMap(({ lines }) => lines)).toEqual([delta("a"), delta("b")]);
  time.pass(5_001);
  turn.write("c");
  expect(told().flatMap(({ lines }) => lines)).toEqual([delta("a"), delta("b")]);
});

it("keeps a question that comes too early for the run that it asks for", async () => {
  const first = await here.threads.say(says("t1", "One"));
  const second = await here.threads.say(says("t1", "Two"));
  follow(second.runId, 0);
  follow("another run", 0);
  (await here.agent.turn()).finish();
  const turn = await here.agent.turn();
  turn.write("Two it is");
  await expect.poll(() => told().at(-1)).toMatchObject({ runId: second.runId, lines: [delta("Two it is")] });
  expect(new Set(sent.map(({ runId }) => runId))).toEqual(new Set([second.runId]));
  expect(first.runId).not.toBe(second.runId);
});

it("tells nobody of a run that is over as soon as it is taken up", async () => {
  const { runId } = await here.threads.say(says("t1", "Hello"));
  await here.agent.turn();
  await close();
  await open();
  const starting = here.threads.start();
  follow(runId, 0);
  tell({ type: "stop", uid: "t1", runId, event: { type: "run.cancelled", runId } });
  await starting;
  expect(await store.load("t1", 1)).toMatchObject({ state: "idle", run: { runId, outcome: "cancelled" } });
  expect(sent).toEqual([]);
});
