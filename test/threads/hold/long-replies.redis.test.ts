// For src/threads/hold/long-replies.ts
import { describe, expect, it } from "vitest";
import { lastReply, LIMITS, writeChapters } from "../chapters.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";
import type { TwoInstances } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";

describe("P17: long replies between two instances", () => {
  let stores: TwoInstances["stores"];
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances(
    (two) => ({ stores, a, b } = two),
    () => [LIMITS, LIMITS],
  );

  it("are followed from the one on the other, whole", async () => {
    void a.threads.say(says("t1", "A book"));
    const turn = await a.agent.turn();
    let text = await writeChapters(turn, 0, 3);
    const stream = readerOf((await b.threads.follow("t1")) ?? expect.fail());
    text += await writeChapters(turn, 3, 5);
    turn.finish();
    expect(textOfLines(await stream.all)).toBe(text);
  });

  it("P9: are written again from the last save on by who takes them up, and nothing of the first try is left", async () => {
    void a.threads.say(says("t1", "A book"));
    const turn = await a.agent.turn();
    const saved = await writeChapters(turn, 0, 2);
    turn.call(serverCall("c1"));
    (await a.agent.toolCall()).answer("found");
    await writeChapters(await a.agent.turn(), 2, 6);
    await a.threads.drain(0);

    const repeated = await b.agent.turn();
    const text = await writeChapters(repeated, 7, 9);
    repeated.finish();
    await expect.poll(() => lastReply(stores[1])).toBe(saved + text);
    const again = readerOf((await b.threads.follow("t1")) ?? expect.fail());
    expect(textOfLines(await again.all)).toBe(saved + text);
  });
});
