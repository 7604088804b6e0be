// For src/threads/hold/
import { expect, it, onTestFinished } from "vitest";
import { nobody } from "../../../src/threads/dependencies.ts";
import { prepareFolder } from "../../support/stores/store-kinds.ts";
import { createInstance, readerOf, says } from "../instance.ts";

it("the first text of each run is told to the observer once, with its wait since the message", async () => {
  const database = await prepareFolder();
  const store = await database.open();
  const waits: number[] = [];
  let nowMs = 1_800_000_000_000;
  const clock = { now: () => nowMs, elapsed: () => nowMs };
  const observer = {
    ...nobody,
    firstText: ({ waitedMs }: { waitedMs: number }) => void waits.push(waitedMs),
  };
  const here = createInstance(store, { clock, observer });
  onTestFinished(async () => {
    await here.threads.drain(0);
    await store.close();
    await database.remove();
  });
  for (const waitMs of [700, 30]) {
    const reply = readerOf(await here.threads.say(says("t1", "Hello")));
    const turn = await here.agent.turn();
    nowMs += waitMs;
    turn.write("Hel");
    nowMs += 5;
    turn.write("lo");
    turn.finish();
    await reply.all;
  }
  expect(waits).toEqual([700, 30]);
});
