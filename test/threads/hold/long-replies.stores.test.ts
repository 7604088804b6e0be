// For src/threads/hold/long-replies.ts
import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { chapter, lastReply, LIMITS, writeChapters } from "../chapters.ts";
import { createInstance, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { serverCall } from "../scripted-agent.ts";

describe.each(storeKinds)("P17: long replies on $name", ({ prepare }) => {
  let store: Store;
  let here: Instance;
  eachOnOneInstance(prepare, (one) => ({ store, here } = one), LIMITS);

  it("are kept in parts as they grow, and read whole: in their stream, in the history, by the next turn", async () => {
    const stream = readerOf(await here.threads.say(says("t1", "A book")));
    const turn = await here.agent.turn();
    const { runId } = turn.turn.run;
    const first = await writeChapters(turn, 0, 3);
    const kept = await store.keptText("t1", runId, 1);
    expect(kept.length).toBeGreaterThan(60_000);
    expect(first.startsWith(kept)).toBe(true);

    turn.call(serverCall("c1"));
    (await here.agent.toolCall()).answer("found");
    const second = await here.agent.turn();
    const rest = await writeChapters(second, 3, 5);
    second.finish();
    const lines = await stream.all;
    expect(textOfLines(lines)).toBe(first + rest);
    expect(lines.at(-1)?.type).toBe("done");
    expect(await lastReply(store)).toBe(first + rest);
    const again = readerOf((await here.threads.follow("t1")) ?? expect.fail());
    expect(textOfLines(await again.all)).toBe(first + rest);
  });

  it("are read whole by who re-attaches in their middle, and then live", async () => {
    void here.threads.say(says("t1", "A book"));
    const turn = await here.agent.turn();
    let text = await writeChapters(turn, 0, 3);
    const stream = readerOf((await here.threads.follow("t1")) ?? expect.fail());
    text += await writeChapters(turn, 3, 6);
    turn.finish();
    expect(textOfLines(await stream.all)).toBe(text);
  });

  it("are not shown from their middle to who re-attaches while the store is behind: it lacks a part", async () => {
    const behind = createInstance({ ...store, keptText: async () => "" }, LIMITS);
    void behind.threads.say(says("t1", "A book"));
    const turn = await behind.agent.turn();
    await writeChapters(turn, 0, 3);
    const stream = readerOf((await behind.threads.follow("t1")) ?? expect.fail());
    expect(await stream.all).toMatchObject([{ type: "error", code: "interrupted" }]);
    turn.finish();
    await behind.threads.drain(0);
  });

  it("are whole for the model, too, where the next message waited already", async () => {
    void here.threads.say(says("t1", "A book"));
    const first = await here.agent.turn();
    const waits = readerOf(await here.threads.say(says("t1", "Another")));
    const text = await writeChapters(first, 0, 2);
    first.finish();
    const second = await here.agent.turn();
    expect(second.turn.before.map(({ content }) => content)).toEqual(["A book", text]);
    second.finish();
    await waits.all;
  });

  it("keep what was streamed when they are cancelled", async () => {
    const stream = readerOf(await here.threads.say(says("t1", "A book")));
    const text = await writeChapters(await here.agent.turn(), 0, 3);
    await here.threads.cancel("t1");
    expect((await stream.all).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
    expect(await lastReply(store)).toBe(text);
  });

  it("P24: wait while the store is away, and the model with them", async () => {
    let isAway = true;
    let tries = 0;
    const outage: Store = {
      ...store,
      keepPart(part) {
        tries++;
        return isAway ? Promise.reject(new StoreUnavailable("keep a part")) : store.keepPart(part);
      },
    };
    const shaken = createInstance(outage, LIMITS);
    const stream = readerOf(await shaken.threads.say(says("t1", "A book")));
    const turn = await shaken.agent.turn();
    let isWaiting = true;
    const written = turn.writeAndWait(chapter(0)).then(() => (isWaiting = false));
    await expect.poll(() => tries).toBe(2);
    expect(isWaiting).toBe(true);
    expect(shaken.complaints).toEqual(["the store is away: a reply waits with a part"]);
    isAway = false;
    await written;
    turn.finish();
    expect(textOfLines(await stream.all)).toBe(chapter(0));
    expect(await lastReply(store)).toBe(chapter(0));
  });
});
