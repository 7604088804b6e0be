// For src/threads/say/speak.ts
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { pageCall } from "../scripted-agent.ts";

const spoken = (text: string, clientMessageId: string | null = null) => ({
  uid: "t1",
  slug: "shop",
  text,
  clientMessageId,
});

describe.each(storeKinds)("the service speaks first, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one));
  const history = async () =>
    (await here.threads.history("t1", { limit: 9, before: null })).map(({ role, content }) => [
      role,
      content,
    ]);

  it("in a new thread, and once, however often it is asked", async () => {
    const often = [1, 2, 3, 4].map(() => here.threads.speak(spoken("Hello", "k")));
    expect(await Promise.all(often)).toEqual(["1", "1", "1", "1"]);
    expect(await history()).toEqual([["assistant", "Hello"]]);
    const other = here.threads.speak(spoken("Something else", "k"));
    await expect(other).rejects.toEqual(
      new Refusal("invalid", "This clientMessageId was given to another text"),
    );
    expect(await here.threads.speak(spoken("Hello"))).toBe("2");
  });

  it("while a page call is pending, which stays so; the next run's model is told", async () => {
    const first = readerOf(await here.threads.say(says("t1", "Buy")));
    (await here.agent.turn()).call(pageCall("c1"));
    await first.all;
    expect(await here.threads.speak(spoken("It is on sale"))).toBe("2");
    expect((await here.store.load("t1", 1, "active"))?.state).toBe("awaiting");
    const second = readerOf(await here.threads.say(says("t1", "Then two")));
    const turn = await here.agent.turn();
    expect(turn.turn.before.map(({ content }) => content)).toContain("It is on sale");
    turn.finish();
    await second.all;
  });

  it("to who waits for a person, whose wait goes on", async () => {
    const { people } = here.threads;
    await people.ask({ uid: "t1", slug: "shop", by: "transport", reason: null });
    expect(await here.threads.speak(spoken("Two are before you"))).toBe("1");
    expect((await here.store.load("t1", 1, "active"))?.state).toBe("waiting_for_person");
  });

  it("after a run that goes on, not into it", async () => {
    const first = readerOf(await here.threads.say(says("t1", "Hello")));
    const turn = await here.agent.turn();
    turn.write("Hi");
    const speaking = here.threads.speak(spoken("By the way"));
    await new Promise((resolve) => setTimeout(resolve, 200));
    turn.finish();
    await first.all;
    expect(await speaking).toBe("3");
    expect(await history()).toEqual([
      ["user", "Hello"],
      ["assistant", "Hi"],
      ["assistant", "By the way"],
    ]);
  });

  const instructed = (instruction: string, clientMessageId: string | null = null) => ({
    uid: "t1",
    slug: "shop",
    userId: "u1",
    speaker: { displayName: null, page: null, customerContext: null },
    instruction,
    clientMessageId,
    traceparent: null,
  });

  it("in its model's words: a run of nobody's message, begun once, whose stream can be read", async () => {
    const often = [1, 2, 3].map(() => here.threads.instruct(instructed("Ask how the order was", "k")));
    const turn = await here.agent.turn();
    const [runId = ""] = await Promise.all(often);
    expect(await Promise.all(often)).toEqual([runId, runId, runId]);
    expect(turn.turn).toMatchObject({
      text: "",
      before: [],
      run: { turns: [{ type: "instruction", text: "Ask how the order was" }] },
    });
    turn.write("How was it?");
    turn.finish();
    const reply = await here.threads.followRun("t1", runId);
    expect(reply && textOfLines(await readerOf(reply).all)).toBe("How was it?");
    expect(await history()).toEqual([["assistant", "How was it?"]]);
    await expect(here.threads.instruct(instructed("Another", "k"))).rejects.toEqual(
      new Refusal("invalid", "This clientMessageId was given to another text"),
    );
    expect(here.agent.turns).toBe(1);
  });

  it("in its model's words, after the run that goes on; a message waits for its end; no later run is told", async () => {
    const first = readerOf(await here.threads.say(says("t1", "Hello")));
    const turn = await here.agent.turn();
    const instructing = here.threads.instruct(instructed("Offer help"));
    turn.finish();
    await first.all;
    const own = await here.agent.turn();
    await instructing;
    const second = readerOf(await here.threads.say(says("t1", "Thanks")));
    own.write("Can I help?");
    own.finish();
    const next = await here.agent.turn();
    expect(next.turn.run.turns).toEqual([]);
    expect(next.turn.before.map(({ content }) => content)).toContain("Can I help?");
    next.write("Fine");
    next.finish();
    expect(textOfLines(await second.all)).toBe("Fine");
  });

  it("not by its model where a person has the thread", async () => {
    await here.threads.people.ask({ uid: "t1", slug: "shop", by: "transport", reason: null });
    await expect(here.threads.instruct(instructed("Offer help"))).rejects.toEqual(
      new Refusal("conflict", "A person has the thread, or is waited for"),
    );
  });
});
