// For src/threads/delete/, src/stores/steps/deletions/, src/operators/forgetting.ts
import { describe, expect, it } from "vitest";
import type { FeedLine } from "../../../src/threads/feeds/feed-lines.ts";
import { readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";

const WITHIN = { timeout: 30_000, interval: 20 };
const DELETED = { type: "error", code: "deleted" };

describe("a thread that is deleted on one instance and used on another", () => {
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ a, b } = two));

  it("ends the run of its holder, whoever reads along there and here, and what waits in its queue", async () => {
    const there = readerOf(await a.threads.say(says("t1", "Hello")));
    const turn = await a.agent.turn();
    turn.write("Let me");
    const along = readerOf((await b.threads.follow("t1"))!);
    const waiting = readerOf(await b.threads.say(says("t1", "Anybody?")));
    await b.threads.forgetting.thread("shop", "t1");
    for (const reader of [there, along, waiting]) expect((await reader.all).at(-1)).toMatchObject(DELETED);
    await expect.poll(() => turn.signal.aborted, WITHIN).toBe(true);
    expect(a.threads.held()).toBe(0);
    expect(await b.store.load("t1", 99)).toBeNull();
    expect(await b.store.waitingRuns("t1")).toEqual([]);
    expect([a.agent.turns, b.agent.turns]).toEqual([1, 0]);
  });

  it("is not taken over where its holder dies", async () => {
    await a.threads.say(says("t1", "Hello"));
    await a.agent.turn();
    await b.threads.forgetting.thread("shop", "t1");
    await a.threads.drain(0);
    // Whoever looks for what a left behind finds another thread of it, and not this one.
    await b.threads.say(says("t2", "Still here?"));
    expect(await b.store.heldBy(a.store.processId)).toEqual([]);
    expect(b.agent.turns).toBe(1);
    expect(await b.store.load("t1", 99)).toBeNull();
  });

  it("is told in the feeds of the other instance", async () => {
    const lines: FeedLine[] = [];
    const feed = await b.threads.openFeed("t1", null);
    const ended = new Promise<void>((end) => {
      feed.read({
        write: (some) => void lines.push(...some),
        onDrained: (callback) => void setImmediate(callback),
        end,
      });
    });
    await a.threads.forgetting.thread("shop", "t1");
    await ended;
    expect(lines.at(-1)).toEqual({ type: "deleted" });
  });
});
