// For src/threads/say/
import { describe, expect, it } from "vitest";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { answers, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { pageCall } from "../scripted-agent.ts";

describe.each(storeKinds)("P31: a message with an id of its caller's, on $name", ({ prepare }) => {
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ here } = one));

  const say = async (text: string, id: string) => readerOf(await here.threads.say(says("t1", text, id)));

  it("gets its run's stream again while the run goes on, and after it", async () => {
    const first = await say("Hello", "m1");
    const turn = await here.agent.turn();
    turn.write("Good");
    const second = await say("Hello", "m1");
    expect(textOfLines(second.lines)).toBe("Good");
    turn.write(" day");
    turn.finish();
    const lines = await first.all;
    expect(textOfLines(await second.all)).toBe("Good day");
    const third = await say("Hello", "m1");
    expect(textOfLines(await third.all)).toBe("Good day");
    expect((await third.all).at(-1)).toEqual(lines.at(-1));
    expect(here.agent.turns).toBe(1);
    expect(await here.threads.history("t1", { limit: 9, before: null })).toMatchObject([
      { role: "user", content: "Hello", clientMessageId: "m1" },
      { role: "assistant", content: "Good day" },
    ]);
  });

  it("is refused with another text, and says nothing", async () => {
    await say("Hello", "m1");
    await expect(say("Good bye", "m1")).rejects.toMatchObject({ reason: "invalid" });
    expect(await here.threads.history("t1", { limit: 9, before: null })).toHaveLength(1);
  });

  it("gets the stream of the run that it waits for", async () => {
    await say("One", "m1");
    const waits = await say("Two", "m2");
    const again = await say("Two", "m2");
    (await here.agent.turn()).finish();
    const turn = await here.agent.turn();
    turn.write("Second");
    turn.finish();
    expect(textOfLines(await waits.all)).toBe("Second");
    expect(textOfLines(await again.all)).toBe("Second");
    expect(here.agent.turns).toBe(2);
  });

  it("gets the pending call again, and ends it not", async () => {
    const first = await say("Buy", "m1");
    (await here.agent.turn()).call(pageCall("c1"));
    const call = (await first.all).at(-1);
    const again = await say("Buy", "m1");
    expect((await again.all).at(-1)).toEqual(call);
    const resumed = readerOf(await here.threads.answer(answers("t1", "c1")));
    (await here.agent.turn()).finish();
    expect((await resumed.all).at(-1)?.type).toBe("done");
  });

  it("is told in short when other runs came after it", async () => {
    await say("Buy", "m1");
    const turn = await here.agent.turn();
    turn.write("One ");
    turn.write("moment");
    turn.call(pageCall("c1"));
    while (here.threads.held() > 0) await new Promise((resolve) => setImmediate(resolve));
    const next = await say("Never mind", "m2");
    (await here.agent.turn()).fail("The model is away");
    await next.all;
    const last = await say("Hello", "m3");
    (await here.agent.turn()).finish();
    await last.all;

    const superseded = await say("Buy", "m1");
    expect(await superseded.all).toMatchObject([
      { type: "step", id: "cart", phase: "failed" },
      { type: "delta", text: "One moment" },
      { type: "error", code: "superseded" },
    ]);
    const failed = await say("Never mind", "m2");
    expect(await failed.all).toEqual([{ type: "error", message: "The model is away" }]);
    expect(here.agent.turns).toBe(3);
  });
});
