// For src/threads/handoff/
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { countWaiting } from "../../../src/operators/stats/count-waiting.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { answers, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { pageCall } from "../scripted-agent.ts";

const thread = { uid: "t1", slug: "shop" };
const ann = { ...thread, name: "ann" };
const WITHIN = { timeout: 30_000, interval: 20 };

describe.each(storeKinds)("a person in a thread, on $name", ({ prepare }) => {
  let here: Instance;
  let restart: () => Promise<void>;
  /** Ahead of the machine's clock by so much. */
  let aheadMs = 0;
  const clock = { now: () => systemClock.now() + aheadMs, elapsed: () => systemClock.elapsed() };
  eachOnOneInstance(
    prepare,
    (one) => {
      here = one.here;
      restart = one.restart;
      aheadMs = 0;
    },
    { clock, waitMs: 60_000, answerMs: 30_000 },
  );

  const say = async (text: string) => readerOf(await here.threads.say(says("t1", text)));
  const history = () => here.threads.history("t1", { limit: 99, before: null });
  const stateNow = async () => (await here.store.load("t1", 1, "active"))?.state;

  it("takes a run that goes on: what was streamed stays, what waits is stored, and no word of the model comes after", async () => {
    const first = await say("Hello");
    const turn = await here.agent.turn();
    turn.write("Let me");
    const waiting = await say("Anybody?");
    expect(await here.threads.people.take({ ...ann, epoch: 0 })).toBe(1);
    // What the model writes while the change settles here is heard by nobody.
    turn.write(" see");
    turn.finish();
    await expect.poll(() => turn.signal.aborted, WITHIN).toBe(true);
    expect((await first.all).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
    expect(textOfLines(await first.all)).toBe("Let me");
    expect((await waiting.all).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
    expect(await history()).toMatchObject([
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Let me" },
      { role: "user", content: "Anybody?", handledBy: "person" },
    ]);
    expect(await stateNow()).toBe("with_person");
    expect(here.agent.turns).toBe(1);
  });

  it("takes a pending call: its result is refused, and who re-attaches is told that it is done", async () => {
    const first = await say("Buy");
    (await here.agent.turn()).call(pageCall("c1"));
    await first.all;
    expect(await countWaiting(here.store)).toBe(0);
    await here.threads.people.take({ ...ann, epoch: 0 });
    await expect(here.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
    const again = readerOf((await here.threads.follow("t1"))!);
    expect((await again.all).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
  });

  it("is asked for before the first message, by the model, and by a visitor during a run", async () => {
    await here.threads.people.ask({ ...thread, by: { visitor: "u1" }, reason: "A refund" });
    expect(await stateNow()).toBe("waiting_for_person");
    expect(await countWaiting(here.store)).toBe(1);
    await here.threads.people.ask({ ...thread, by: { visitor: "u1" }, reason: null });
    expect((await (await say("Hello?")).all).map(({ type }) => type)).toEqual(["done"]);
    await here.threads.people.stopWaiting(thread);
    await here.threads.people.stopWaiting(thread);
    expect(await stateNow()).toBe("idle");
    expect(await countWaiting(here.store)).toBe(0);

    const handed = await say("A person, please");
    const turn = await here.agent.turn();
    turn.write("Of course.");
    turn.handOff("Wants a person", "Said hello");
    const lines = await handed.all;
    expect(textOfLines(lines)).toMatch(/^Of course\.\n\n.*person/s);
    expect(lines.at(-1)).toMatchObject({ type: "done", handledBy: "person", inputTokens: 10 });
    await here.threads.people.stopWaiting(thread);

    const running = await say("Again");
    await here.agent.turn();
    await here.threads.people.ask({ ...thread, by: "transport", reason: null });
    expect((await running.all).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
    expect(await stateNow()).toBe("waiting_for_person");
    // Nothing was said in that run: no empty reply is left.
    expect((await history()).filter(({ role }) => role === "assistant")).toHaveLength(1);
  });

  it("answers, and gives the thread back; the next run is told, and the one after it knows", async () => {
    await here.threads.people.take({ ...ann, epoch: 0 });
    const said = { ...ann, epoch: 1, text: "I refunded it", clientMessageId: "k1" };
    const id = await here.threads.people.say(said);
    expect(await here.threads.people.say({ ...said, epoch: 7 })).toBe(id);
    await expect(here.threads.people.say({ ...said, text: "Other" })).rejects.toMatchObject({
      reason: "invalid",
    });
    await expect(here.threads.people.say({ ...said, epoch: 7, clientMessageId: "k2" })).rejects.toMatchObject(
      {
        reason: "conflict",
      },
    );
    await expect(here.threads.people.say({ ...said, name: "ben" })).rejects.toMatchObject({
      reason: "conflict",
    });
    // A visitor's id of the same name is another one.
    await here.threads.say(says("t1", "Thanks", "k1"));
    await restart();
    const back = { ...ann, epoch: 1, how: "returned" as const, note: "Ask whether all is well" };
    expect(await here.threads.people.handBack(back)).toBe(2);
    await expect(here.threads.people.handBack(back)).rejects.toMatchObject({ reason: "conflict" });
    expect(await history()).toMatchObject([
      { id, role: "assistant", content: "I refunded it", author: { type: "person", name: "ann" } },
      { role: "user", content: "Thanks" },
    ]);
    const next = await say("Bye");
    const turn = await here.agent.turn();
    expect(turn.turn).toMatchObject({
      text: "Bye",
      handedBack: { name: "ann", note: "Ask whether all is well" },
    });
    expect(turn.turn.before.map(({ content, author }) => [content, author?.name])).toEqual([
      ["I refunded it", "ann"],
      ["Thanks", undefined],
    ]);
    turn.finish();
    await next.all;
    await say("One more");
    const later = (await here.agent.turn()).turn;
    expect(later.handedBack).toBeUndefined();
    expect(later.before.some((message) => message.handedBack !== undefined)).toBe(true);
  });

  it("does not come: the wait ends at its deadline, after a restart too, and that is said", async () => {
    await here.threads.people.ask({ ...thread, by: { visitor: "u1" }, reason: null });
    await restart();
    aheadMs = 61_000;
    await expect.poll(stateNow, WITHIN).toBe("idle");
    expect(await history()).toMatchObject([
      { role: "assistant", content: expect.stringMatching(/Nobody/) as string },
    ]);
    await expect(here.threads.people.take({ ...ann, epoch: 1 })).rejects.toMatchObject({
      reason: "conflict",
    });
    expect(await here.threads.people.take({ ...ann, epoch: 2 })).toBe(3);
  });

  it("leaves the visitor without an answer: after a restart too, another one is asked for, and can take it", async () => {
    const { people } = here.threads;
    await people.take({ ...ann, epoch: 0 });
    await people.say({ ...ann, epoch: 1, text: "Hi", clientMessageId: null });
    aheadMs = 31_000;
    await (
      await say("Where is my parcel?")
    ).all;
    expect(await stateNow()).toBe("with_person");
    await restart();
    aheadMs = 62_000;
    await expect.poll(stateNow, WITHIN).toBe("waiting_for_person");
    expect(await history()).toMatchObject([
      { content: "Hi", author: { name: "ann" } },
      { role: "user", content: "Where is my parcel?" },
      { role: "assistant", content: expect.stringMatching(/had to wait/) as string },
    ]);
    const late = here.threads.people.say({ ...ann, epoch: 1, text: "Here I am", clientMessageId: null });
    await expect(late).rejects.toMatchObject({ reason: "conflict" });
    expect(await here.threads.people.take({ ...thread, name: "ben", epoch: 2 })).toBe(3);
  });

  it("of ten who take at once one has it", async () => {
    await say("Hello");
    await here.agent.turn();
    const takes = Array.from({ length: 10 }, () => here.threads.people.take({ ...ann, epoch: 0 }));
    const ends = await Promise.allSettled(takes);
    expect(ends.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const record = await here.store.load("t1", 1, "active");
    expect(record?.snapshot).toContain('"epoch":1');
  });
});
