// For src/threads/say/interrupt.ts
import { describe, expect, it } from "vitest";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";

describe.each(storeKinds)("a message of a channel that interrupts, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one), { interrupts: true });

  const say = async (text: string) => readerOf(await here.threads.say(says("t1", text)));
  const history = async () =>
    (await here.threads.history("t1", { limit: 9, before: null })).map(({ role, content }) => [
      role,
      content,
    ]);

  it("ends the run that goes on: what was said stays, its stream says why, and the message is answered at once", async () => {
    const first = await say("Tell me everything");
    const turn = await here.agent.turn();
    turn.write("First of all");
    const second = await say("Only the price");
    expect((await first.all).at(-1)).toEqual({
      type: "error",
      message: "A later message ended the run",
      code: "superseded",
    });
    const next = await here.agent.turn();
    expect(next.turn.text).toBe("Only the price");
    expect(next.turn.before.map(({ content }) => content)).toEqual(["Tell me everything", "First of all"]);
    next.write("18 euros");
    next.finish();
    expect(textOfLines(await second.all)).toBe("18 euros");
    expect(await history()).toEqual([
      ["user", "Tell me everything"],
      ["assistant", "First of all"],
      ["user", "Only the price"],
      ["assistant", "18 euros"],
    ]);
    const [ended] = await here.store.runs("t1", 9);
    expect(ended).toMatchObject({ outcome: "superseded" });
  });

  it("of several that wait each is answered", async () => {
    const first = await say("One");
    (await here.agent.turn()).write("1");
    const second = await say("Two");
    const third = await say("Three");
    await first.all;
    for (const text of ["2", "3"]) {
      const turn = await here.agent.turn();
      turn.write(text);
      turn.finish();
    }
    expect([textOfLines(await second.all), textOfLines(await third.all)]).toEqual(["2", "3"]);
    expect((await history()).map(([, content]) => content)).toEqual(["One", "1", "Two", "2", "Three", "3"]);
  });
});

describe.each(storeKinds)("a message of a channel that does not, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one));

  it("waits for its turn", async () => {
    const first = readerOf(await here.threads.say(says("t1", "One")));
    const turn = await here.agent.turn();
    const second = readerOf(await here.threads.say(says("t1", "Two")));
    await new Promise((resolve) => setTimeout(resolve, 100));
    turn.write("1");
    turn.finish();
    expect(textOfLines(await first.all)).toBe("1");
    const next = await here.agent.turn();
    next.write("2");
    next.finish();
    expect(textOfLines(await second.all)).toBe("2");
  });
});
