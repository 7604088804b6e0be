// For src/threads/recover/, src/threads/hold/
import { describe, expect, it } from "vitest";
import { answers, createInstance, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";
import type { TwoInstances } from "../on-instances.ts";
import { pageCall } from "../scripted-agent.ts";

describe("two instances on one Redis", () => {
  let stores: TwoInstances["stores"];
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ stores, a, b } = two));

  async function history(uid: string) {
    const items = await stores[1].history(uid, { limit: 100, before: null });
    return items.map((item) => `${item.role}: ${item.content}`);
  }

  it("P8: a call that one made is answered on the other", async () => {
    const first = readerOf(await a.threads.say(says("t1", "A mug")));
    (await a.agent.turn()).call(pageCall("c1"));
    expect((await first.all).at(-1)?.type).toBe("tool_call");
    const second = readerOf(await b.threads.answer(answers("t1", "c1", "One mug")));
    const turn = await b.agent.turn();
    expect(turn.turn.text).toBe("A mug");
    turn.write("There it is");
    turn.finish();
    expect(textOfLines(await second.all)).toBe("There it is");
    expect(await history("t1")).toEqual(["user: A mug", "assistant: There it is"]);
  });

  it("a message waits behind a run of the other, and its stream shows its own run there, from the first line to the last", async () => {
    const first = readerOf(await a.threads.say(says("t1", "One")));
    const second = readerOf(await b.threads.say(says("t1", "Two")));
    (await a.agent.turn()).finish();
    await first.all;
    const turn = await a.agent.turn();
    expect(turn.turn.text).toBe("Two");
    turn.write("B");
    turn.write("B");
    turn.finish();
    expect(textOfLines(await second.all)).toBe("BB");
    expect(second.lines.at(-1)?.type).toBe("done");
    expect(b.agent.turns).toBe(0);
  });

  it("a run of the one is followed on the other, line by line", async () => {
    await a.threads.say(says("t1", "Hello"));
    const turn = await a.agent.turn();
    turn.write("Good ");
    const there = readerOf((await b.threads.follow("t1"))!);
    while (textOfLines(there.lines) !== "Good ") await there.next();
    turn.write("day");
    while (textOfLines(there.lines) !== "Good day") await there.next();
    turn.finish();
    expect((await there.all).at(-1)?.type).toBe("done");
    expect(textOfLines(there.lines)).toBe("Good day");
  });

  it("P7: the same result posted to both at once is taken once, and both see its stream", async () => {
    await a.threads.say(says("t1", "A mug"));
    (await a.agent.turn()).call(pageCall("c1"));
    while (a.threads.held() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    const [left, right] = await Promise.all([
      a.threads.answer(answers("t1", "c1")),
      b.threads.answer(answers("t1", "c1")),
    ]);
    const readers = [readerOf(left), readerOf(right)];
    const turn = await Promise.race([a.agent.turn(), b.agent.turn()]);
    turn.write("Done");
    turn.finish();
    for (const reader of readers) expect(textOfLines(await reader.all)).toBe("Done");
    expect(a.agent.turns + b.agent.turns).toBe(2);
  });

  it("P2: a message that waited is offered the page tools that the page has when its run begins", async () => {
    const stale = [{ name: "old" }];
    await a.threads.setCatalog("t1", "shop", stale);
    await a.threads.say(says("t1", "One"));
    await a.threads.say(says("t1", "Two"));
    const third = readerOf(await a.threads.say(says("t1", "Three")));
    const first = await a.agent.turn();
    expect(first.turn.catalog).toEqual(stale);
    await b.threads.setCatalog("t1", "shop", [{ name: "new" }]);
    first.finish();
    const second = await a.agent.turn();
    expect(second.turn.catalog).toEqual([{ name: "new" }]);
    await b.threads.setCatalog("t1", "shop", []);
    second.finish();
    const last = await a.agent.turn();
    expect(last.turn.catalog).toEqual([]);
    last.finish();
    await third.all;
  });

  it("a run of the one is cancelled from the other", async () => {
    const reply = readerOf(await a.threads.say(says("t1", "Hello")));
    const turn = await a.agent.turn();
    turn.write("Half");
    await b.threads.cancel("t1");
    expect((await reply.all).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
    expect(await history("t1")).toEqual(["user: Hello", "assistant: Half"]);
  });

  it("P29: what the one was stopped in the middle of, the other goes on with at once, and a follower there sees it", async () => {
    const cut = readerOf(await a.threads.say(says("t1", "Hello")));
    (await a.agent.turn()).write("Half an ans");
    await a.threads.drain(0);
    expect((await cut.all).at(-1)).toMatchObject({ type: "error", code: "interrupted" });
    const shown = readerOf((await b.threads.follow("t1"))!);
    const turn = await b.agent.turn();
    turn.write("A whole answer");
    turn.finish();
    expect(textOfLines(await shown.all)).toBe("A whole answer");
    expect(await history("t1")).toEqual(["user: Hello", "assistant: A whole answer"]);
  });

  it("P9: a process that falls silent loses its runs to the other, waiting messages included, within seconds", async () => {
    await a.threads.say(says("t1", "One"));
    const waits = readerOf(await b.threads.say(says("t1", "Two")));
    await a.agent.turn();
    await stores[0].close();
    const turn = await b.agent.turn();
    expect(turn.turn.text).toBe("One");
    turn.finish();
    const next = await b.agent.turn();
    next.write("Here");
    next.finish();
    expect(textOfLines(await waits.all)).toBe("Here");
  });

  it("P6: an owner from whom a run was taken changes nothing more, and its stream ends as interrupted", async () => {
    const cut = readerOf(await a.threads.say(says("t1", "Hello")));
    const late = await a.agent.turn();
    const record = await stores[1].load("t1", 1_000);
    // Somebody takes it for dead, rightly or not.
    const takeover = createInstance(stores[1]);
    const claimed = await stores[1].commit({
      uid: "t1",
      slug: "shop",
      opId: "op",
      fence: `${stores[1].processId}:other`,
      claims: true,
      takesFrom: record!.fence,
      rev: record!.rev,
      readOp: record!.lastOp,
      atMs: Date.now(),
      snapshot: record!.snapshot!,
      state: "running",
      run: record!.run!,
      endedRun: null,
      messages: [],
      startsWaiting: null,
      holds: true,
      deadlineMs: null,
      orWait: null,
    });
    expect(claimed.type).toBe("committed");
    late.write("too late");
    late.finish();
    expect((await cut.all).at(-1)).toMatchObject({ type: "error", code: "interrupted" });
    expect(await history("t1")).toEqual(["user: Hello"]);
    await takeover.threads.drain(0);
  });
});
