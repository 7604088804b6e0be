// For src/threads/hold/work.ts, src/threads/hold/held-thread.ts, machines/run.ts
import { describe, expect, it } from "vitest";
import type { Call } from "../../../machines/run.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";
import type { Store } from "../../../src/store.ts";

const reading = (callId: string, tool: string): Call => ({
  ...serverCall(callId, tool, true),
  readOnly: true,
});

describe.each(storeKinds)("calls that only read, on $name", ({ prepare }) => {
  let store: Store;
  let here: Instance;
  let restart: () => Promise<void>;
  eachOnOneInstance(prepare, (one) => ({ store, here, restart } = one));

  it("are made side by side; each result is saved once, and the model has them in its own order", async () => {
    const reader = readerOf(await here.threads.say(says("t1", "Which is nearer?")));
    (await here.agent.turn()).call(reading("a", "near"), reading("b", "far"), serverCall("c", "book"));
    const near = await here.agent.toolCall();
    const far = await here.agent.toolCall();
    expect([near.call.callId, far.call.callId]).toEqual(["a", "b"]);
    far.answer("9 km");
    near.answer("1 km");
    const book = await here.agent.toolCall();
    expect(book.call.callId).toBe("c");
    book.answer("booked");
    const turn = await here.agent.turn();
    const results = turn.turn.run.turns.flatMap((item) =>
      item.type === "result" ? [[item.callId, item.text]] : [],
    );
    expect(results).toEqual([
      ["b", "9 km"],
      ["a", "1 km"],
      ["c", "booked"],
    ]);
    turn.write("The first.");
    turn.finish();
    const steps = (await reader.all).flatMap((line) =>
      line.type === "step" ? [`${line.id} ${line.phase}`] : [],
    );
    expect(steps).toEqual([
      "near running",
      "far running",
      "far done",
      "near done",
      "book running",
      "book done",
    ]);
    expect((await store.load("t1", 1_000))?.tail.at(-1)?.calls?.map(({ result }) => result)).toEqual([
      "1 km",
      "9 km",
      "booked",
    ]);
  });

  it("that had no result when their process ended are made again, and no other", async () => {
    await here.threads.say(says("t1", "Which is nearer?"));
    (await here.agent.turn()).call(reading("a", "near"), reading("b", "far"));
    await here.agent.toolCall();
    (await here.agent.toolCall()).answer("9 km");
    const saved = async () =>
      (await store.load("t1", 1_000))?.run?.turns.some(({ type }) => type === "result");
    while (!(await saved())) await new Promise((resolve) => setImmediate(resolve));
    await restart();
    const again = await here.agent.toolCall();
    expect(again.call.callId).toBe("a");
    again.answer("1 km");
    const { turn } = await here.agent.turn();
    expect(turn.run.turns.flatMap((item) => (item.type === "result" ? [item.text] : []))).toEqual([
      "9 km",
      "1 km",
    ]);
  });

  it("end together when the run is stopped", async () => {
    const reader = readerOf(await here.threads.say(says("t1", "Which is nearer?")));
    (await here.agent.turn()).call(reading("a", "near"), reading("b", "far"), reading("c", "other"));
    await here.agent.toolCall();
    (await here.agent.toolCall()).answer("9 km");
    await reader.next();
    await here.threads.cancel("t1");
    const lines = await reader.all;
    expect(lines.slice(-3)).toMatchObject([
      { id: "near", phase: "failed" },
      { id: "other", phase: "failed" },
      { type: "error", code: "cancelled" },
    ]);
    expect(here.threads.held()).toBe(0);
  });
});
