// For src/threads/summaries/
import { describe, expect, test } from "vitest";
import type { Summarized, Summarizing } from "../../../src/agent.ts";
import type { Ranges } from "../../../src/domain/threads/branches.ts";
import type { HistorySummary } from "../../../src/domain/threads/history-summary.ts";
import type { Message } from "../../../src/domain/threads/message.ts";
import type { HistoryPage } from "../../../src/store.ts";
import { newestWithin } from "../../../src/domain/threads/newest-within.ts";
import { nobody } from "../../../src/threads/dependencies.ts";
import type { SummaryOutcome } from "../../../src/threads/dependencies.ts";
import { messagesAfter } from "../../../src/threads/summaries/messages-after.ts";
import { createSummaries } from "../../../src/threads/summaries/summaries.ts";
import { message, newRun } from "../../agent/run.ts";
import { until } from "../../support/until.ts";

const MINUTE_MS = 60_000;

/** Ten messages, of which the agent wants the first six summarised; the test plays the model. */
function open({ to = 6, chars = 10 } = {}) {
  const history = Array.from({ length: 10 }, (_, nth) => message(nth + 1, "user", "x".repeat(chars)));
  const asked: { asked: Summarizing; answer(text: string | null): void; fail(): void }[] = [];
  const outcomes: SummaryOutcome[] = [];
  const known = new Map<string, HistorySummary>();
  const warnings: string[] = [];
  let stored: HistorySummary | null = null;
  let nowMs = 0;
  const summaries = createSummaries({
    store: {
      history: async (_uid: string, page: HistoryPage) => pageOf(history, page),
      historySummary: async () => stored,
      async keepHistorySummary({ summary, after }: { summary: HistorySummary; after: number }) {
        if ((stored?.upTo ?? 0) !== after) return false;
        stored = summary;
        return true;
      },
    } as never,
    agent: {
      summarizesTo: (_slug: string, { summary }: { summary: HistorySummary | null }) =>
        (summary?.upTo ?? 0) < to ? to : null,
      summarize: (one: Summarizing, signal: AbortSignal) =>
        new Promise<Summarized | null>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
          asked.push({
            asked: one,
            answer: (text) =>
              resolve(text === null ? null : { text, model: "p/m", usage: { input: 10, output: 1 } }),
            fail: () => reject(new Error("No answer")),
          });
        }),
    } as never,
    clock: { now: () => 7, elapsed: () => nowMs },
    log: { info() {}, warn: (_fields: object, text: string) => void warnings.push(text), error() {} },
    observer: { ...nobody, summarized: ({ outcome }) => void outcomes.push(outcome) },
    onKept: (uid, summary) => void known.set(uid, summary),
  });
  const release = (uid = "t1", run: ReturnType<typeof newRun> | null = newRun({ address: "hash" })) =>
    summaries.released({
      uid,
      slug: "shop",
      run,
      traceparent: null,
      history: { summary: known.get(uid) ?? null, tail: [] },
      hidden: [],
    });
  const nth = async (index: number) => {
    await until("the model is asked", () => asked.length > index);
    return asked[index] ?? expect.unreachable();
  };
  return {
    summaries,
    release,
    nth,
    asked,
    outcomes,
    known,
    warnings,
    stored: () => stored,
    keep: (summary: HistorySummary) => (stored = summary),
    pass: (ms: number) => (nowMs += ms),
    ended: (count: number) => until("they have ended", () => outcomes.length === count),
  };
}

/** As a store pages a history: the newest before a message, within a budget. */
function pageOf(history: Message[], { limit, before, budgetChars = Infinity }: HistoryPage): Message[] {
  const older = history.filter(({ id }) => before === null || Number(id) < Number(before));
  return newestWithin(older.slice(-limit), budgetChars);
}

const made = (upTo: number, text: string): HistorySummary => ({
  text,
  upTo,
  atMs: 7,
  model: "p/m",
  usage: { input: 10, output: 1 },
});

describe("summaries", () => {
  test("are made of the messages up to where the agent says, by the run's user, and are known then", async () => {
    const it = open();
    it.release();
    const one = await it.nth(0);
    expect(one.asked).toMatchObject({
      slug: "shop",
      summary: null,
      run: { userId: "user-1", address: "hash" },
    });
    expect(one.asked.messages.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5", "6"]);
    one.answer("Six x.");
    await it.ended(1);
    expect(it.stored()).toEqual(made(6, "Six x."));
    expect(it.known.get("t1")).toEqual(made(6, "Six x."));
    it.release();
    expect(it.asked).toHaveLength(1);
  });

  test("of much text take several requests, each from the one before, and add up what they cost", async () => {
    const it = open({ chars: 40_000 });
    it.release();
    (await it.nth(0)).answer("Two.");
    const second = await it.nth(1);
    expect(second.asked.summary).toEqual(made(2, "Two."));
    expect(second.asked.messages.map(({ id }) => id)).toEqual(["3", "4"]);
    second.answer("Four.");
    (await it.nth(2)).answer("Six.");
    await it.ended(1);
    expect(it.stored()).toEqual({ ...made(6, "Six."), usage: { input: 30, output: 3 } });
  });

  test("are made one at a time of a thread, and of four threads at a time", async () => {
    const it = open();
    for (const uid of ["t1", "t1", "t2", "t3", "t4", "t5"]) it.release(uid);
    await it.nth(3);
    it.release("t1");
    expect(it.asked).toHaveLength(4);
    it.asked[0]?.answer("One");
    await it.nth(4);
  });

  test("that fail are not tried again for ten minutes, and are told in the log", async () => {
    const it = open();
    it.release();
    (await it.nth(0)).fail();
    await it.ended(1);
    expect(it.outcomes).toEqual(["failed"]);
    expect(it.warnings).toEqual(["cannot summarise a conversation: its oldest messages are left out"]);
    it.release();
    it.pass(10 * MINUTE_MS - 1);
    it.release();
    expect(it.asked).toHaveLength(1);
    it.pass(1);
    it.release();
    (await it.nth(1)).answer("Six x.");
    await it.ended(2);
    expect(it.stored()).toEqual(made(6, "Six x."));
  });

  test("that another process has made meanwhile are taken from it", async () => {
    const it = open();
    it.release();
    const one = await it.nth(0);
    it.keep(made(6, "Made elsewhere."));
    one.answer("Six x.");
    await it.ended(1);
    expect(it.outcomes).toEqual(["overtaken"]);
    expect(it.known.get("t1")).toEqual(made(6, "Made elsewhere."));
  });

  test("are left where a cap is used up, and where nobody ran anything", async () => {
    const it = open();
    it.release("t1", null);
    it.release();
    (await it.nth(0)).answer(null);
    await it.ended(1);
    expect(it.outcomes).toEqual(["capped"]);
    expect(it.stored()).toBeNull();
  });

  test("end with the process, without a word and without a trace", async () => {
    const it = open();
    for (const uid of ["t1", "t2", "t3", "t4", "t5"]) it.release(uid);
    await it.nth(3);
    it.summaries.stop();
    it.release("t6");
    await new Promise((resolve) => setImmediate(resolve));
    expect(it.asked).toHaveLength(4);
    expect(it.warnings).toEqual([]);
    expect(it.stored()).toBeNull();
  });
});

describe("the messages after one", () => {
  const read = (history: Message[], after: number, to: number, hidden: Ranges = []) =>
    messagesAfter({ history: async (_uid, page) => pageOf(history, page) }, "t1", { after, to, hidden });
  const ids = ({ messages, upTo }: Awaited<ReturnType<typeof read>>) => [messages.map(({ id }) => id), upTo];
  const ten = Array.from({ length: 10 }, (_, nth) => message(nth + 1, "user", "x".repeat(30_000)));

  test("leave out what is in other branches", async () => {
    const short = ten.map((one) => ({ ...one, content: "x" }));
    expect(
      ids(
        await read(short, 0, 10, [
          [2, 4],
          [9, 9],
        ]),
      ),
    ).toEqual([["1", "5", "6", "7", "8", "10"], 10]);
    expect(ids(await read(short, 1, 4, [[2, 4]]))).toEqual([[], 4]);
  });

  test("are as many as fit, without a gap", async () => {
    expect(ids(await read(ten, 0, 10))).toEqual([["1", "2"], 2]);
    expect(ids(await read(ten, 8, 9))).toEqual([["9"], 9]);
  });

  test("are at least one, and may be none where all were set aside", async () => {
    const long = [message(1, "user", "x".repeat(90_000)), message(2, "user", "y")];
    expect(ids(await read(long, 0, 2))).toEqual([["1"], 1]);
    expect(ids(await read(ten.slice(4), 0, 4))).toEqual([[], 4]);
    // The first one was set aside: what follows comes all the same.
    expect(ids(await read(ten.slice(1), 0, 2))).toEqual([["2"], 2]);
  });
});
