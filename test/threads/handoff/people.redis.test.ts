// For src/threads/handoff/
import { describe, expect, it } from "vitest";
import type { FeedLine } from "../../../src/threads/feeds/feed-lines.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { countWaiting } from "../../../src/operators/stats/count-waiting.ts";
import { eachOnTwoInstances } from "../on-instances.ts";

const thread = { uid: "t1", slug: "shop" };
const WITHIN = { timeout: 30_000, interval: 20 };

describe("a person and a thread on two instances", () => {
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ a, b } = two));

  it("takes the thread from the instance that runs it, which ends the stream with what was said", async () => {
    const reader = readerOf(await a.threads.say(says("t1", "Hello")));
    const turn = await a.agent.turn();
    turn.write("Let me");
    await expect.poll(() => textOfLines(reader.lines), WITHIN).toBe("Let me");
    expect(await b.threads.people.take({ ...thread, name: "ann", epoch: 0 })).toBe(1);
    expect(textOfLines(await reader.all)).toBe("Let me");
    expect((await reader.all).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
    expect(a.threads.held()).toBe(0);
  });

  it("of those who take at once on both, one has it", async () => {
    await a.threads.say(says("t1", "Hello"));
    await a.agent.turn();
    const takes = Array.from({ length: 10 }, (_, nth) =>
      (nth % 2 ? a : b).threads.people.take({ ...thread, name: `op-${nth}`, epoch: 0 }),
    );
    const ends = await Promise.allSettled(takes);
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  it("is waited for, which each instance counts", async () => {
    await a.threads.people.ask({ ...thread, by: { visitor: "u1" }, reason: null });
    await b.threads.people.ask({ ...thread, uid: "t2", by: "transport", reason: null });
    expect([await countWaiting(a.store), await countWaiting(b.store)]).toEqual([2, 2]);
    await b.threads.people.take({ ...thread, name: "ann", epoch: 1 });
    expect([await countWaiting(a.store), await countWaiting(b.store)]).toEqual([1, 1]);
  });

  it("is read, and seen to write, on the other instance", async () => {
    const lines: FeedLine[] = [];
    const feed = await b.threads.openFeed("t1", "");
    feed.read({
      write: (some) => void lines.push(...some.filter(({ type }) => type !== "ping")),
      onDrained: (callback) => void setImmediate(callback),
      end() {},
    });
    await a.threads.people.take({ ...thread, name: "ann", epoch: 0 });
    await expect
      .poll(() => lines.at(-1), WITHIN)
      .toEqual({ type: "state", state: "with_person", with: "ann" });
    await a.threads.people.say({ ...thread, name: "ann", epoch: 1, text: "Hello", clientMessageId: null });
    const said = { type: "message", message: { content: "Hello", author: { name: "ann" } } };
    await expect.poll(() => lines.at(-1), WITHIN).toMatchObject(said);
    await expect
      .poll(async () => {
        await a.threads.people.type({ uid: "t1", name: "ann" });
        return lines.at(-1);
      }, WITHIN)
      .toEqual({ type: "typing", name: "ann" });
    feed.leave();
  });
});
