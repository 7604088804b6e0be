// For src/threads/hold/, src/charts/
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import type { Agent } from "../../../src/agent.ts";
import { systemClock, systemTimers } from "../../../src/clock.ts";
import { newId } from "../../../src/domain/ids.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { nobody } from "../../../src/threads/dependencies.ts";
import { createThreads } from "../../../src/threads/threads.ts";
import type { Threads } from "../../../src/threads/threads.ts";
import type { Reply } from "../../../src/threads/hold/reply.ts";
import type { Store } from "../../../src/store.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";
import { answers, readerOf, says } from "../instance.ts";
import { pageCall, serverCall } from "../scripted-agent.ts";
import { randomRuns } from "../../support/lengths.ts";

/** How the agent ends its nth turn. */
type TurnScript = "finish" | "page" | "server" | "two pages" | "fail";
/** What a client does next, on the one thread that all share. */
type Step =
  | "say"
  | "answer"
  | "answer again"
  | "answer wrongly"
  | "cancel"
  | "catalog"
  | "read"
  | "follow"
  | "breathe";

const turnScripts = fc.array(
  fc.constantFrom<TurnScript>("finish", "finish", "page", "server", "two pages", "fail"),
  {
    minLength: 1,
    maxLength: 6,
  },
);
const clients = fc.array(
  fc.array(
    fc.constantFrom<Step>(
      "say",
      "say",
      "answer",
      "answer",
      "answer again",
      "answer wrongly",
      "cancel",
      "catalog",
      "read",
      "follow",
      "breathe",
    ),
    { minLength: 1, maxLength: 8 },
  ),
  { minLength: 1, maxLength: 2 },
);

/** An agent that plays its scripts over and over, and writes what it was asked, so that a reply names its message. */
function createPlayer(scripts: TurnScript[]): Agent & { results: Map<string, string[]> } {
  let nth = 0;
  /** What the model was given as result, by call. */
  const results = new Map<string, string[]>();
  return {
    results,
    async think(turn, wrote, signal) {
      for (const item of turn.run.turns) {
        if (item.type === "result")
          results.set(item.callId, [...(results.get(item.callId) ?? []), item.text]);
      }
      const script = scripts[nth++ % scripts.length] ?? "finish";
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      const text = `[${turn.text}]`;
      void wrote(text);
      const item = (calls: string[]) => ({
        type: "assistant" as const,
        text,
        calls: calls.map((callId) => ({ callId, offeredName: "cart", arguments: "{}" })),
      });
      const ids = [newId(), newId()] as const;
      switch (script) {
        case "finish":
          return { type: "finished", item: item([]), usage: null };
        case "page":
          return { type: "called", item: item([ids[0]]), calls: [pageCall(ids[0])], usage: null };
        case "two pages":
          return { type: "called", item: item([...ids]), calls: ids.map((id) => pageCall(id)), usage: null };
        case "server":
          return { type: "called", item: item([ids[0]]), calls: [serverCall(ids[0])], usage: null };
        case "fail":
          throw new Error("The model broke");
      }
    },
    async useTool(_slug, call) {
      await new Promise((resolve) => setImmediate(resolve));
      return { text: `result of ${call.callId}`, isError: false };
    },
    async close() {},
  };
}

describe.each(storeKinds)("clients that interleave on one thread, on $name", ({ prepare }) => {
  let ground: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    ground = await prepare();
    store = await ground.open();
  });

  afterAll(async () => {
    await store.close();
    await ground.remove();
  });

  it("P3 P7 P31: every stream is well formed, no message is lost or doubled, no result reaches another call", async () => {
    await fc.assert(
      fc.asyncProperty(turnScripts, clients, async (scripts, steps) => {
        const uid = newId();
        const player = createPlayer(scripts);
        const threads = createThreads({
          store,
          agent: player,
          clock: systemClock,
          timers: systemTimers,
          newId,
          log: { info() {}, warn() {}, error() {} },
          limits: {
            runTimeoutMs: 60_000,
            runMaxToolCalls: 6,
            toolResultTimeoutMs: 60_000,
            runMaxReplyChars: 100_000,
            threadQueueMax: 4,
            historyBudgetChars: 100_000,
          },
          observer: nobody,
        });
        const acknowledged: string[] = [];
        const streams: Promise<Line[]>[] = [];
        let said = 0;

        await Promise.all(
          steps.map((client, c) =>
            playClient({ threads, uid, client, streams, store, name: () => `m${c}.${said++}`, acknowledged }),
          ),
        );
        // Whatever is still pending is cancelled, so that every stream comes to its end.
        while (streams.length > 0) {
          await threads.cancel(uid);
          const lines = await Promise.race([
            Promise.all(streams),
            new Promise((resolve) => setTimeout(resolve, 5)),
          ]);
          if (lines) break;
        }
        for (const lines of await Promise.all(streams)) {
          expect(lines.filter(isTerminal)).toHaveLength(1);
          expect(isTerminal(lines.at(-1)!)).toBe(true);
        }

        const items = await store.history(uid, { limit: 100, before: null });
        const users = items.filter((item) => item.role === "user").map((item) => item.content);
        expect([...users].sort()).toEqual([...acknowledged].sort());
        items.forEach((item, i) => expect(item.role).toBe(i % 2 === 0 ? "user" : "assistant"));
        items.forEach((item, i) => {
          if (item.role !== "assistant") return;
          // A reply says nothing but its own message's name, however often its turns said it.
          const own = `[${items[i - 1]?.content}]`;
          expect(item.content.replaceAll(own, "").replace("Something went wrong on the server", "")).toBe("");
        });
        const times = items.map((item) => item.createdAtMs);
        expect(times).toEqual([...times].sort((x, y) => x - y));
        for (const [callId, texts] of player.results) {
          for (const text of texts) expect(text).toBe(`result of ${callId}`);
        }
        expect(threads.held()).toBe(0);
      }),
      { numRuns: randomRuns(250) },
    );
  });
});

async function playClient(options: {
  threads: Threads;
  uid: string;
  client: Step[];
  streams: Promise<Line[]>[];
  store: Store;
  name: () => string;
  acknowledged: string[];
}): Promise<void> {
  const { threads, uid, client, streams, store, name, acknowledged } = options;
  let answeredLast: string | null = null;
  const open = (reply: Reply) => streams.push(readerOf(reply).all);
  const tryTo = async (work: () => Promise<Reply | null>) => {
    try {
      const reply = await work();
      if (reply) open(reply);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
      return false;
    }
  };

  for (const step of client) {
    switch (step) {
      case "say": {
        const text = name();
        if (await tryTo(() => threads.say(says(uid, text)))) acknowledged.push(text);
        break;
      }
      case "answer": {
        const pending = (await store.load(uid, 1))?.run?.terminal;
        if (pending?.type !== "tool_call") break;
        answeredLast = pending.callId;
        await tryTo(() => threads.answer(answers(uid, pending.callId, `result of ${pending.callId}`)));
        break;
      }
      case "answer again":
        if (answeredLast)
          await tryTo(() => threads.answer(answers(uid, answeredLast!, "a repeat, never used")));
        break;
      case "answer wrongly":
        expect(await tryTo(() => threads.answer(answers(uid, "no such call", "never used")))).toBe(false);
        break;
      case "cancel":
        await threads.cancel(uid);
        break;
      case "catalog":
        await threads.setCatalog(uid, "shop", [{ name: "cart" }]);
        break;
      case "read":
        await threads.history(uid, { limit: 10, before: null });
        break;
      case "follow":
        await tryTo(() => threads.follow(uid));
        break;
      case "breathe":
        await new Promise((resolve) => setTimeout(resolve, 1));
        break;
    }
  }
}
