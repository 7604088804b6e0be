// For src/threads/hold/remembered.ts
import { beforeEach, describe, expect, it, vi } from "vitest";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnTwoInstances } from "../on-instances.ts";

describe("a message to a thread that this instance has released", () => {
  let a: Instance;
  let b: Instance;
  eachOnTwoInstances((two) => ({ a, b } = two));

  beforeEach(async () => {
    await exchange(a, "One", "First");
  });

  /** A message and its whole reply; resolves to what the model was told. */
  async function exchange(instance: Instance, text: string, reply: string) {
    const reader = readerOf(await instance.threads.say(says("t1", text)));
    const turn = await instance.agent.turn();
    turn.write(reply);
    turn.finish();
    expect(textOfLines(await reader.all)).toBe(reply);
    while (instance.threads.held() > 0) await new Promise((resolve) => setImmediate(resolve));
    return turn.turn;
  }

  const toldIn = (turn: { before: readonly { content: string }[] }) =>
    turn.before.map(({ content }) => content);

  it("reads nothing of the thread, and the model is told its history", async () => {
    const load = vi.spyOn(a.store, "load");
    expect(toldIn(await exchange(a, "Two", "Second"))).toEqual(["One", "First"]);
    expect(toldIn(await exchange(a, "Three", "Third"))).toEqual(["One", "First", "Two", "Second"]);
    expect(load).not.toHaveBeenCalled();
  });

  it("reads it anew where another instance has gone on with it", async () => {
    await exchange(b, "Two", "Second");
    const load = vi.spyOn(a.store, "load");
    expect(toldIn(await exchange(a, "Three", "Third"))).toEqual(["One", "First", "Two", "Second"]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("waits where another instance holds it", async () => {
    const held = readerOf(await b.threads.say(says("t1", "Two")));
    const turn = await b.agent.turn();
    const waits = readerOf(await a.threads.say(says("t1", "Three")));
    turn.finish();
    const next = await b.agent.turn();
    next.write("Third");
    next.finish();
    await held.all;
    expect(textOfLines(await waits.all)).toBe("Third");
  });

  it.each([
    ["this instance", () => a],
    ["another one", () => b],
  ])("offers the tools that %s has stored since", async (_where, instanceOf) => {
    await instanceOf().threads.setCatalog("t1", "shop", [{ name: "cart" }]);
    expect((await exchange(a, "Two", "Second")).catalog).toEqual([{ name: "cart" }]);
    await instanceOf().threads.setCatalog("t1", "shop", []);
    expect((await exchange(a, "Three", "Third")).catalog).toEqual([]);
  });

  it("is refused where another instance has deleted it", async () => {
    await b.store.eraseThread("t1", 1);
    await expect(a.threads.say(says("t1", "Two"))).rejects.toMatchObject({ reason: "not-found" });
  });
});
