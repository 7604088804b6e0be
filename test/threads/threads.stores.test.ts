// For src/threads/
import { describe, expect, it } from "vitest";
import { Refusal } from "../../src/domain/refusal.ts";
import type { Store } from "../../src/store.ts";
import { answers, createInstance, readerOf, says, textOfLines } from "./instance.ts";
import type { Instance } from "./instance.ts";
import { eachOnOneInstance } from "./on-instances.ts";
import { pageCall, serverCall } from "./scripted-agent.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";

describe.each(storeKinds)("threads on $name", ({ prepare }) => {
  let store: Store;
  let here: Instance;
  let restart: () => Promise<void>;
  eachOnOneInstance(prepare, (one) => ({ store, here, restart } = one));

  async function history(uid: string) {
    const items = await store.history(uid, { limit: 100, before: null });
    return items.map((item) => `${item.role}: ${item.content}`);
  }

  describe("say()", () => {
    it("streams the agent's text and keeps both messages, with nothing left in memory", async () => {
      const reply = readerOf(await here.threads.say(says("t1", "Hello")));
      const turn = await here.agent.turn();
      expect(turn.turn.text).toBe("Hello");
      turn.write("Good ");
      turn.write("day");
      expect(textOfLines(reply.lines)).toBe("Good day");
      turn.finish();
      expect((await reply.all).at(-1)).toMatchObject({ type: "done", inputTokens: 10, outputTokens: 5 });
      expect(await history("t1")).toEqual(["user: Hello", "assistant: Good day"]);
      expect(here.threads.held()).toBe(0);
    });

    it("keeps of a run that has ended what replays its stream, and not what the model saw", async () => {
      const reply = readerOf(await here.threads.say(says("t1", "What time is it?")));
      (await here.agent.turn()).call(serverCall("c1"));
      (await here.agent.toolCall()).answer("noon");
      const turn = await here.agent.turn();
      turn.write("It is noon");
      turn.finish();
      await reply.all;
      const record = await store.load("t1", 1_000);
      expect(record?.run?.turns).toEqual([]);
      expect(textOfLines(record?.run?.lines ?? [])).toBe("It is noon");
      expect(record?.tail.at(-1)?.calls).toMatchObject([{ tool: "clock", result: "noon" }]);
    });

    it("gives the next turn the conversation so far", async () => {
      const first = readerOf(await here.threads.say(says("t1", "One")));
      const turn = await here.agent.turn();
      turn.write("First");
      turn.finish();
      await first.all;
      await here.threads.say(says("t1", "Two"));
      const next = await here.agent.turn();
      expect(next.turn.before.map((message) => message.content)).toEqual(["One", "First"]);
      expect(next.turn.text).toBe("Two");
    });

    it("P2: resolves only when the message is stored, and says the terminal line only when the reply is", async () => {
      let release = () => {};
      const gates: Promise<void>[] = [];
      const close = () => gates.push(new Promise<void>((resolve) => (release = resolve)));
      const gated: Store = Object.create(store, {
        commit: {
          value: async (...args: Parameters<Store["commit"]>) => {
            await gates.shift();
            return store.commit(...args);
          },
        },
      }) as Store;
      const gatedInstance = createInstance(gated);

      close();
      let resolved = false;
      const saying = gatedInstance.threads.say(says("t2", "Hello")).then((reply) => {
        resolved = true;
        return reply;
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(resolved).toBe(false);
      expect(gatedInstance.agent.turns).toBe(0);
      release();
      const reply = readerOf(await saying);

      const turn = await gatedInstance.agent.turn();
      close();
      turn.write("Done");
      turn.finish();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(reply.lines).toEqual([{ type: "delta", text: "Done" }]);
      release();
      expect((await reply.all).at(-1)?.type).toBe("done");
    });

    it("lets a message wait behind the active run, in order of arrival, and refuses what no longer fits the queue", async () => {
      const first = readerOf(await here.threads.say(says("t1", "One")));
      const second = readerOf(await here.threads.say(says("t1", "Two")));
      const third = readerOf(await here.threads.say(says("t1", "Three")));
      await expect(here.threads.say(says("t1", "Four"))).rejects.toThrow(Refusal);

      for (const [reply, text] of [
        [first, "A"],
        [second, "B"],
        [third, "C"],
      ] as const) {
        const turn = await here.agent.turn();
        turn.write(text);
        turn.finish();
        await reply.all;
        expect(textOfLines(reply.lines)).toBe(text);
      }
      expect(await history("t1")).toEqual([
        "user: One",
        "assistant: A",
        "user: Two",
        "assistant: B",
        "user: Three",
        "assistant: C",
      ]);
      expect(here.threads.held()).toBe(0);
    });

    it("goes on when the reader leaves", async () => {
      const reply = await here.threads.say(says("t1", "Hello"));
      reply.leave();
      const again = await here.threads.follow("t1");
      const turn = await here.agent.turn();
      turn.write("Still here");
      turn.finish();
      await readerOf(again!).all;
      expect(await history("t1")).toEqual(["user: Hello", "assistant: Still here"]);
    });

    it("ends in one error line when the model fails, keeps its message, and the thread stays usable", async () => {
      const reply = readerOf(await here.threads.say(says("t1", "Hello")));
      (await here.agent.turn()).fail("The model cannot be reached");
      expect(await reply.all).toEqual([{ type: "error", message: "The model cannot be reached" }]);
      expect(await history("t1")).toEqual(["user: Hello", "assistant: The model cannot be reached"]);
      const next = readerOf(await here.threads.say(says("t1", "Again")));
      (await here.agent.turn()).finish();
      expect((await next.all).at(-1)?.type).toBe("done");
    });

    it("ends a run that takes longer than RUN_TIMEOUT_SECONDS", async () => {
      const hasty = createInstance(store, { limits: { runTimeoutMs: 30 } });
      const reply = readerOf(await hasty.threads.say(says("t1", "Hello")));
      const turn = await hasty.agent.turn();
      expect((await reply.all).at(-1)).toMatchObject({ type: "error" });
      expect(turn.signal.aborted).toBe(true);
    });

    it.each([
      [["far too long"], "far t"],
      // Half a pair is not sent.
      [["four", "👋"], "four"],
      [["1", "2", "3", "4", "5", "6", "7"], "12345"],
    ])(
      "ends a reply that grows past RUN_MAX_REPLY_CHARS, and sends no more than that: %j",
      async (texts, sent) => {
        const terse = createInstance(store, { limits: { runMaxReplyChars: 5 } });
        const reply = readerOf(await terse.threads.say(says("t1", "Hello")));
        const turn = await terse.agent.turn();
        for (const text of texts) turn.write(text);
        const lines = await reply.all;
        expect(textOfLines(lines)).toBe(sent);
        expect(lines.at(-1)).toMatchObject({ type: "error", message: "The reply grew longer than it may" });
        expect((await store.history("t1", { limit: 1, before: null }))[0]?.content).toBe(sent);
      },
    );

    it("finishes a reply of RUN_MAX_REPLY_CHARS", async () => {
      const terse = createInstance(store, { limits: { runMaxReplyChars: 5 } });
      const reply = readerOf(await terse.threads.say(says("t1", "Hello")));
      const turn = await terse.agent.turn();
      turn.write("12345");
      turn.finish();
      expect((await reply.all).at(-1)).toMatchObject({ type: "done" });
    });
  });

  describe("the page-tool loop", () => {
    it("ends the stream with the call, leaves nothing in memory, and goes on in a new stream", async () => {
      const first = readerOf(await here.threads.say(says("t1", "A mug, please")));
      const turn = await here.agent.turn();
      turn.write("Adding it. ");
      turn.call(pageCall("c1"));
      expect((await first.all).slice(-2)).toEqual([
        { type: "step", id: "cart", phase: "running", text: "Filling the cart" },
        { type: "tool_call", tool: "cart", arguments: { n: 1 }, callId: "c1" },
      ]);
      expect(here.threads.held()).toBe(0);

      const second = readerOf(await here.threads.answer(answers("t1", "c1", "One mug")));
      const next = await here.agent.turn();
      expect(next.turn.run.turns.at(-1)).toEqual({
        type: "result",
        callId: "c1",
        text: "One mug",
        isError: false,
      });
      next.write("It is in your cart");
      next.finish();
      expect((await second.all).map((line) => line.type)).toEqual(["step", "delta", "done"]);
      expect(await history("t1")).toEqual([
        "user: A mug, please",
        "assistant: Adding it. It is in your cart",
      ]);
      const [, kept] = await store.history("t1", { limit: 10, before: null });
      expect(kept?.steps).toEqual([{ id: "cart", phase: "done", text: "Filling the cart" }]);
    });

    it("P7: the first result wins; a repeat re-attaches to its stream, and runs nothing again", async () => {
      await here.threads.say(says("t1", "A mug"));
      (await here.agent.turn()).call(pageCall("c1"));
      await until(() => here.threads.held() === 0);
      const results = await Promise.all([1, 2, 3].map(() => here.threads.answer(answers("t1", "c1"))));
      const readers = results.map(readerOf);
      const turn = await here.agent.turn();
      turn.write("Done");
      turn.finish();
      const all = await Promise.all(readers.map((reader) => reader.all));
      for (const lines of all) {
        expect(textOfLines(lines)).toBe("Done");
        expect(lines[0]).toMatchObject({ type: "step", phase: "done" });
        expect(lines.at(-1)?.type).toBe("done");
      }
      expect(here.agent.turns).toBe(2);
      const late = readerOf(await here.threads.answer(answers("t1", "c1")));
      expect(textOfLines(await late.all)).toBe("Done");
      expect(here.agent.turns).toBe(2);
    });

    it("refuses a result for another call, another tool, or no call at all", async () => {
      await expect(here.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      await here.threads.say(says("t1", "A mug"));
      (await here.agent.turn()).call(pageCall("c1"));
      await until(() => here.threads.held() === 0);
      await expect(here.threads.answer(answers("t1", "c2"))).rejects.toMatchObject({ reason: "conflict" });
      await expect(here.threads.answer(answers("t1", "c1", "ok", "search"))).rejects.toMatchObject({
        reason: "conflict",
      });
    });

    it("a message on a pending call supersedes it: its result comes too late", async () => {
      await here.threads.say(says("t1", "A mug"));
      const turn = await here.agent.turn();
      turn.write("Adding. ");
      turn.call(pageCall("c1"));
      await until(() => here.threads.held() === 0);
      const reply = readerOf(await here.threads.say(says("t1", "Never mind")));
      await expect(here.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      const next = await here.agent.turn();
      expect(next.turn.before.at(-1)?.calls).toEqual([{ tool: "cart", arguments: '{"n":1}', result: null }]);
      next.finish();
      expect((await reply.all).map((line) => line.type)).toEqual(["done"]);
      expect(await history("t1")).toEqual([
        "user: A mug",
        "assistant: Adding. ",
        "user: Never mind",
        "assistant: ",
      ]);
    });

    it("a message that waited while the call was made supersedes it too", async () => {
      const first = readerOf(await here.threads.say(says("t1", "A mug")));
      const second = readerOf(await here.threads.say(says("t1", "Never mind")));
      (await here.agent.turn()).call(pageCall("c1"));
      expect((await first.all).at(-1)?.type).toBe("tool_call");
      (await here.agent.turn()).finish();
      expect((await second.all).map((line) => line.type)).toEqual(["done"]);
    });

    it("does server-side calls on the way, and page calls one by one", async () => {
      const first = readerOf(await here.threads.say(says("t1", "Go")));
      (await here.agent.turn()).call(serverCall("s1"), pageCall("c1"), pageCall("c2"));
      (await here.agent.toolCall()).answer("noon");
      expect((await first.all).map((line) => line.type)).toEqual(["step", "step", "step", "tool_call"]);
      const second = readerOf(await here.threads.answer(answers("t1", "c1")));
      expect((await second.all).map((line) => line.type)).toEqual(["step", "step", "tool_call"]);
      const third = readerOf(await here.threads.answer(answers("t1", "c2")));
      const turn = await here.agent.turn();
      expect(turn.turn.run.turns.map((item) => item.type)).toEqual([
        "assistant",
        "result",
        "result",
        "result",
      ]);
      turn.finish();
      expect((await third.all).map((line) => line.type)).toEqual(["step", "done"]);
    });
  });

  describe("follow()", () => {
    it("has nothing to tell of a thread without a run", async () => {
      expect(await here.threads.follow("t1")).toBeNull();
    });

    it("tells everything since the message, then what comes, to the terminal line", async () => {
      await here.threads.say(says("t1", "Hello"));
      const turn = await here.agent.turn();
      turn.write("Good ");
      const again = readerOf((await here.threads.follow("t1"))!);
      expect(textOfLines(again.lines)).toBe("Good ");
      turn.write("day");
      turn.finish();
      expect(textOfLines(await again.all)).toBe("Good day");
      const late = readerOf((await here.threads.follow("t1"))!);
      expect((await late.all).map((line) => line.type)).toEqual(["delta", "done"]);
    });

    it("ends with the pending call, so that the page can find and answer it", async () => {
      await here.threads.say(says("t1", "A mug"));
      (await here.agent.turn()).call(pageCall("c1"));
      await until(() => here.threads.held() === 0);
      const again = readerOf((await here.threads.follow("t1"))!);
      expect((await again.all).at(-1)).toMatchObject({ type: "tool_call", callId: "c1" });
    });
  });

  describe("cancel()", () => {
    it("ends the open stream with one line of code cancelled, and keeps what was streamed", async () => {
      const reply = readerOf(await here.threads.say(says("t1", "Hello")));
      const turn = await here.agent.turn();
      turn.write("Half an ans");
      await here.threads.cancel("t1");
      expect(await reply.all).toMatchObject([{ type: "delta" }, { type: "error", code: "cancelled" }]);
      expect(turn.signal.aborted).toBe(true);
      expect(await history("t1")).toEqual(["user: Hello", "assistant: Half an ans"]);
    });

    it("ends a pending call, and does not touch messages that wait", async () => {
      await here.threads.cancel("t1");
      await here.threads.say(says("t1", "A mug"));
      (await here.agent.turn()).call(pageCall("c1"));
      await until(() => here.threads.held() === 0);
      await here.threads.cancel("t1");
      await expect(here.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      const shown = readerOf((await here.threads.follow("t1"))!);
      expect((await shown.all).at(-1)).toMatchObject({ type: "error", code: "cancelled" });

      await here.threads.say(says("t1", "One"));
      const second = readerOf(await here.threads.say(says("t1", "Two")));
      await here.threads.cancel("t1");
      await here.agent.turn();
      (await here.agent.turn()).finish();
      expect((await second.all).at(-1)?.type).toBe("done");
    });
  });

  describe("a pending call", () => {
    it("expires after TOOL_RESULT_TIMEOUT_SECONDS, and the thread is free again", async () => {
      let now = 1_000_000;
      const clock = { now: () => now, elapsed: () => performance.now() };
      const timed = createInstance(store, { clock, limits: { toolResultTimeoutMs: 5_000 } });
      await timed.threads.say(says("t1", "A mug"));
      (await timed.agent.turn()).call(pageCall("c1"));
      await until(() => timed.threads.held() === 0);
      now += 5_000;
      await expect(timed.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      await timed.threads.start();
      const shown = readerOf((await timed.threads.follow("t1"))!);
      expect((await shown.all).at(-1)).toMatchObject({ type: "error", code: "expired" });
      await timed.threads.drain(0);
    });

    it("that has expired is told as expired by whoever asks first, before any sweep", async () => {
      let now = 1_000_000;
      const clock = { now: () => now, elapsed: () => performance.now() };
      const timed = createInstance(store, { clock, limits: { toolResultTimeoutMs: 5_000 } });
      const ask = async (uid: string) => {
        const { runId } = await timed.threads.say(says(uid, "A mug"));
        (await timed.agent.turn()).call(pageCall("c1"));
        await until(() => timed.threads.held() === 0);
        return runId;
      };
      const last = async (uid: string) => (await readerOf((await timed.threads.follow(uid))!).all).at(-1);
      await ask("t1");
      const runId = await ask("t2");
      await ask("t3");
      now += 4_999;
      expect(await last("t1")).toMatchObject({ type: "tool_call", callId: "c1" });
      now += 1;
      expect(await last("t1")).toMatchObject({ type: "error", code: "expired" });
      const named = readerOf((await timed.threads.followRun("t2", runId))!);
      expect((await named.all).at(-1)).toMatchObject({ type: "error", code: "expired" });
      await expect(timed.threads.answer(answers("t3", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      for (const uid of ["t1", "t2", "t3"]) {
        const [, reply] = await store.history(uid, { limit: 10, before: null });
        expect(reply?.steps).toMatchObject([{ phase: "failed" }]);
      }
      await timed.threads.drain(0);
    });
  });

  describe("a process that ends", () => {
    it("P9 P29: hands its runs over; the next one goes on at the last saved step", async () => {
      const reply = readerOf(await here.threads.say(says("t1", "Go")));
      (await here.agent.turn()).call(serverCall("s1"));
      (await here.agent.toolCall()).answer("noon");
      const turn = await here.agent.turn();
      turn.write("It is no");
      await restart();
      expect((await reply.all).at(-1)).toMatchObject({ type: "error", code: "interrupted" });
      const again = await here.agent.turn();
      expect(again.turn.text).toBe("Go");
      expect(again.turn.run.turns.map((item) => item.type)).toEqual(["assistant", "result"]);
      const shown = readerOf((await here.threads.follow("t1"))!);
      again.write("It is noon");
      again.finish();
      expect(textOfLines(await shown.all)).toBe("It is noon");
      expect(await history("t1")).toEqual(["user: Go", "assistant: It is noon"]);
    });

    it("P29: refuses messages and results while it drains, and lets the run that goes on end", async () => {
      await here.threads.say(says("t2", "A mug"));
      (await here.agent.turn()).call(pageCall("c1"));
      await until(() => here.threads.held() === 0);
      const reply = readerOf(await here.threads.say(says("t1", "Hello")));
      const turn = await here.agent.turn();
      const drained = here.threads.drain(60_000);
      const refusal = { reason: "unavailable", message: "unavailable: The service is stopping" };
      await expect(here.threads.say(says("t3", "Hi"))).rejects.toMatchObject(refusal);
      await expect(here.threads.answer(answers("t2", "c1"))).rejects.toMatchObject(refusal);
      turn.finish();
      expect((await reply.all).map((line) => line.type)).toEqual(["done"]);
      await drained;
      // The call is as it was: another instance takes its result.
      expect((await store.load("t2", 1_000))?.state).toBe("awaiting");
    });

    it("loses no message that waited", async () => {
      await here.threads.say(says("t1", "One"));
      await here.threads.say(says("t1", "Two"));
      await restart();
      for (const text of ["A", "B"]) {
        const turn = await here.agent.turn();
        turn.write(text);
        turn.finish();
      }
      await until(() => here.threads.held() === 0);
      expect(await history("t1")).toEqual(["user: One", "assistant: A", "user: Two", "assistant: B"]);
    });
  });
});

/** Waits for something that happens within a few turns of the event loop. */
async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await new Promise((resolve) => setTimeout(resolve, 2));
}
