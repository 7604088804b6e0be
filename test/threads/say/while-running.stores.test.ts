// For src/threads/say/while-running.ts
import { describe, expect, it } from "vitest";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";
import type { PlayedTurn } from "../scripted-agent.ts";

/** The turn under way is played, then that of the message that waits. Returns what each of the two streams says. */
async function inTurn(
  { agent }: Instance,
  turn: PlayedTurn,
  [first, second]: [ReturnType<typeof readerOf>, ReturnType<typeof readerOf>],
): Promise<[string, string]> {
  turn.write("1");
  turn.finish();
  await first.all;
  const next = await agent.turn();
  next.write("2");
  next.finish();
  return [textOfLines(await first.all), textOfLines(await second.all)];
}

describe.each(storeKinds)("a message of a channel that interrupts, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one), { whileRunning: "interrupt" });

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
    expect(await inTurn(here, turn, [first, second])).toEqual(["1", "2"]);
  });
});

describe.each(storeKinds)("a message of a channel that steers, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one), { whileRunning: "steer" });

  const say = async (text: string) => readerOf(await here.threads.say(says("t1", text)));
  /** The run that goes on has heard of the message behind it. */
  async function isTold(): Promise<void> {
    const stored = async () => (await here.store.load("t1", 1, "active"))?.snapshot;
    await expect.poll(stored).toContain('"steered":true');
  }

  it("is told to the model before its next turn, with all that the tools have found; each message has one answer", async () => {
    const first = await say("Where is my order?");
    const turn = await here.agent.turn();
    turn.write("Let me look.");
    turn.call(serverCall("c1"));
    const call = await here.agent.toolCall();
    const second = await say("Number 7");
    await isTold();
    const found = "x".repeat(1_000);
    call.answer(found);
    expect((await first.all).at(-1)).toMatchObject({ type: "done" });
    const next = await here.agent.turn();
    expect(next.turn.text).toBe("Number 7");
    expect(next.turn.before).toMatchObject([
      { role: "user", content: "Where is my order?" },
      { role: "assistant", content: "Let me look.", calls: [{ tool: "clock", result: found }] },
    ]);
    next.write("It arrives today.");
    next.finish();
    expect(textOfLines(await second.all)).toBe("It arrives today.");
    expect(here.agent.turns).toBe(2);
  });

  it("waits for its turn where the model asks for no tool", async () => {
    const first = await say("One");
    const turn = await here.agent.turn();
    const second = await say("Two");
    await isTold();
    expect(await inTurn(here, turn, [first, second])).toEqual(["1", "2"]);
  });
});
