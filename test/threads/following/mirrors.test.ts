// For src/threads/following/
import { describe, expect, onTestFinished, test } from "vitest";
import type { Line, StepLine, ToolCallLine } from "../../../machines/line.ts";
import { createMirrors } from "../../../src/threads/following/mirrors.ts";
import type { SaidMessage } from "../../../src/threads/following/messages.ts";
import { createHeldThreads } from "../../../src/threads/hold/held-threads.ts";
import { INTERRUPTED } from "../../../src/threads/recover/interrupted.ts";
import { createReply } from "../../../src/threads/hold/reply.ts";
import type { InstanceMessage, ThreadRecord } from "../../../src/store.ts";
import { summaryFrom } from "../../../src/store/threads.ts";
import { createReference } from "../../stores/twin/reference.ts";
import { sampleMessage, sampleRun } from "../../stores/samples.ts";
import { setTime } from "../set-time.ts";

const running: StepLine = { type: "step", id: "cart", phase: "running", text: "Filling the cart" };
const stepDone: StepLine = { ...running, phase: "done" };
const call: ToolCallLine = { type: "tool_call", tool: "cart", arguments: {}, callId: "c1" };

/** A run whose page call was answered, and that another process goes on with. */
const record: ThreadRecord = {
  uid: "t1",
  slug: "shop",
  rev: 3,
  lastOp: "op",
  fence: "A:2",
  state: "running",
  snapshot: null,
  catalog: [],
  catalogId: null,
  run: sampleRun("r1", { lines: [running, stepDone], streamFrom: 1 }),
  tail: [],
  messageCount: 1,
  waitingCount: 0,
};

const said = { type: "said", runId: "r1", base: 0, terminal: null } as const;
const delta = (text: string) => ({ type: "delta", text }) as const;
const end = { type: "done", elapsedMs: 5 } as const;
/** What the run leaves in the history, which does not know where in the text its steps stood. */
const replyOfRun = sampleMessage(1, {
  role: "assistant",
  runId: "r1",
  content: "It is in.",
  steps: [stepDone],
});

/**
 * A reader of `record`'s run from a position on, and what it was told. The next look into the store finds `later`. `wasExpected`:
 * another reader has waited for the run since before it began, and has heard nothing of it.
 */
function mirrored(from: number, later: ThreadRecord = record, { wasExpected = false } = {}) {
  const time = setTime();
  const { clock, timers } = time;
  const log = { info() {}, warn() {}, error() {} };
  const asked: InstanceMessage[] = [];
  const store = {
    ...createReference(clock),
    load: async () => later,
    run: async () => summaryFrom(sampleRun("r1", { outcome: "done", terminal: end })),
    history: async () => [replyOfRun],
    send: (_to: string, message: InstanceMessage) => asked.push(message),
  };
  const mirrors = createMirrors(
    { store, timers, log },
    createHeldThreads({
      onBegun() {},
      onCommitted() {},
      onDoubt() {},
      onReleased() {},
      remembered: { set() {} },
    }),
  );
  onTestFinished(() => mirrors.stop());
  if (wasExpected) mirrors.expect("t1", createReply("r1"), "A:2");
  const told: Line[] = [];
  const reply = createReply("r1");
  reply.read((lines) => void told.push(...lines));
  mirrors.follow(record, reply, from);
  return {
    mirrors,
    told,
    asked,
    receive: (message: SaidMessage) => mirrors.receive(message),
    /** Lets the next look into the store take place. */
    look: async () => {
      time.pass(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("P7: the late end of an earlier stream does not end the stream that a page's result opened", () => {
  const { told, receive } = mirrored(1);
  receive({ ...said, fence: "A:1", from: 0, lines: [running], terminal: call });
  receive({ ...said, fence: "A:2", from: 2, lines: [delta("It is in.")], terminal: end });
  expect(told).toEqual([stepDone, delta("It is in."), end]);
});

describe("P4: a follower that has words of a holder that is gone, and missed the one after it", () => {
  /** C took the run from B, who had saved `text`; the reader has “It is” of A. */
  function missesB(text: string) {
    const lines = [running, stepDone, delta(text)];
    const following = mirrored(1, {
      ...record,
      fence: "C:4",
      run: sampleRun("r1", { lines, streamFrom: 1 }),
    });
    const { receive } = following;
    receive({ ...said, base: 2, fence: "A:2", from: 2, lines: [delta("It is")] });
    receive({ ...said, base: 2 + text.length, fence: "C:4", from: 7, lines: [delta(" now in.")] });
    expect(following.told).toEqual([stepDone, delta("It is")]);
    return following;
  }

  test("is cut off where other words were saved", async () => {
    const { look, told } = missesB("There it goes");
    await look();
    expect(told.slice(2)).toMatchObject([{ type: "error", code: "interrupted" }]);
  });

  test("goes on where its words were saved", async () => {
    const { look, told, receive } = missesB("It is now");
    await look();
    receive({ ...said, base: 11, fence: "C:4", from: 7, lines: [delta(" now in.")] });
    expect(told.slice(2)).toEqual([delta(" now in.")]);
  });
});

test("a reader that joined in the middle is cut off where the run ended, and another has followed, before it was heard of", async () => {
  const { told, look } = mirrored(1, { ...record, run: sampleRun("r2") }, { wasExpected: true });
  await look();
  expect(told).toMatchObject([{ type: "error", code: "interrupted" }]);
});

test("what a message says again is not told again, not even in the middle of a text", () => {
  const { told, receive } = mirrored(0);
  receive({ ...said, fence: "A:2", from: 2, lines: [delta("It is ")] });
  receive({ ...said, fence: "A:2", from: 1, lines: [stepDone, delta("It is in.")] });
  receive({ ...said, fence: "A:2", from: 0, lines: [running, stepDone, delta("It is in.")], terminal: end });
  expect(told).toEqual([running, stepDone, delta("It is "), delta("in."), end]);
});

test("a mirror that sees a gap tells nothing, and asks again from where it is", () => {
  const { told, asked, receive } = mirrored(2);
  receive({ ...said, fence: "A:2", from: 5, lines: [delta("in.")], terminal: end });
  expect(told).toEqual([]);
  expect(asked).toEqual(Array(2).fill({ type: "follow", uid: "t1", runId: "r1", from: 2, to: "reference" }));
});

test("a reader that was told more than a new holder took up is cut off, and hears nothing of it", () => {
  const { told, mirrors, receive } = mirrored(2);
  receive({ ...said, fence: "A:2", from: 2, lines: [delta("It is")] });
  receive({ ...said, fence: "B:1", base: 2, from: 2, lines: [delta("There it is, in.")], terminal: end });
  expect(told).toEqual([delta("It is"), INTERRUPTED]);
  expect(mirrors.readers()).toBe(0);
});

test("a reader that was told what was saved, and no more, reads on with a new holder", () => {
  const { told, receive } = mirrored(2);
  receive({ ...said, base: 4, fence: "A:2", from: 2, lines: [delta("It")] });
  receive({ ...said, base: 4, fence: "B:1", from: 4, lines: [delta(" is in.")], terminal: end });
  expect(told).toEqual([delta("It"), delta(" is in."), end]);
});

test("P8: a run that only a newer version reads ends the stream: who attaches again may reach one that does", async () => {
  const snapshot = JSON.stringify({ value: "kept", context: { version: 99 } });
  const { told, look } = mirrored(2, { ...record, snapshot });
  await look();
  expect(told).toEqual([INTERRUPTED]);
});

test("a holder that was stopped ends no stream: its run goes on elsewhere", () => {
  const { told, mirrors, receive } = mirrored(2);
  receive({ ...said, fence: "A:2", from: 2, lines: [], terminal: INTERRUPTED });
  expect(told).toEqual([]);
  expect(mirrors.readers()).toBe(1);
});
