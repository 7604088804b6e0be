// For src/threads/hold/save-thread.ts
import { expect, onTestFinished, test } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { answers, createInstance, readerOf, says, textOfLines } from "../instance.ts";
import { pageCall } from "../scripted-agent.ts";

/** An instance whose commits fail while the store is away; the time is set. */
async function openInstance() {
  const state = { away: false, elapsedMs: 0 };
  // While the store is away, each look at the clock takes a second.
  const clock = { now: () => Date.now(), elapsed: () => (state.elapsedMs += state.away ? 1_000 : 0) };
  const real = await openEmbeddedStore({ dataDir: temporaryFolder(), clock });
  const store: typeof real = {
    ...real,
    commit: (commit) => (state.away ? Promise.reject(new StoreUnavailable("save")) : real.commit(commit)),
  };
  const here = createInstance(store, { clock });
  onTestFinished(async () => {
    await here.threads.drain(0);
    await real.close();
  });
  return { ...here, state };
}

const INTERRUPTED: Partial<Line> = { type: "error", code: "interrupted" };

test.each(["a message's", "a page tool's"])(
  "F5: %s stream ends as interrupted while the store is away, and has the run's own end when it is read again",
  async (whose) => {
    const { threads, agent, state, complaints } = await openInstance();
    let cut = readerOf(await threads.say(says("t1", "Hello")));
    if (whose !== "a message's") {
      (await agent.turn()).call(pageCall("c1"));
      await cut.all;
      cut = readerOf(await threads.answer(answers("t1", "c1")));
    }
    const turn = await agent.turn();
    turn.write("Good day");
    state.away = true;
    turn.finish();
    const told = await cut.all;
    expect(told.at(-1)).toMatchObject(INTERRUPTED);
    expect(told.filter(({ type }) => type === "error")).toHaveLength(1);
    expect(complaints).toContain("the store is away: runs wait with their saves");

    const again = await threads.follow("t1");
    state.away = false;
    const end = again && (await readerOf(again).all);
    expect([textOfLines(end ?? []), end?.at(-1)?.type]).toEqual(["Good day", "done"]);
  },
);
