// For src/threads/say/approve.ts, src/threads/say/while-running.ts
import { describe, expect, it } from "vitest";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";

describe("a run that waits on one of two instances", () => {
  let a: Instance;
  let b: Instance;
  const steers = { whileRunning: "steer" } as const;
  eachOnTwoInstances(
    (two) => ({ a, b } = two),
    () => [steers, steers],
  );

  it("goes on there when its call is approved through the other one, once", async () => {
    const reader = readerOf(await a.threads.say(says("t1", "Cancel my order")));
    (await a.agent.turn()).call({ ...serverCall("c1"), confirm: "visitor" });
    await expect.poll(() => reader.lines.length).toBe(1);
    const decided = { uid: "t1", slug: "shop", callId: "c1", approved: true, by: "visitor" as const };
    await Promise.all([b, a, b, a].map(({ threads }) => threads.approve(decided)));
    (await a.agent.toolCall()).answer("Done");
    const turn = await a.agent.turn();
    turn.write("Cancelled");
    turn.finish();
    expect(textOfLines(await reader.all)).toBe("Cancelled");
    expect(b.agent.turns).toBe(0);
  });

  it("hears of a message that steers it, which came through the other one", async () => {
    const first = readerOf(await a.threads.say(says("t1", "Where is it?")));
    (await a.agent.turn()).call(serverCall("c1"));
    const call = await a.agent.toolCall();
    const second = readerOf(await b.threads.say(says("t1", "Number 7")));
    const stored = async () => (await b.store.load("t1", 1, "active"))?.snapshot;
    await expect.poll(stored).toContain('"steered":true');
    call.answer("Found");
    expect((await first.all).at(-1)).toMatchObject({ type: "done" });
    const turn = await a.agent.turn();
    expect(turn.turn.text).toBe("Number 7");
    turn.write("Here");
    turn.finish();
    expect(textOfLines(await second.all)).toBe("Here");
  });
});
