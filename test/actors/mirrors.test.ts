import { describe, expect, test } from "vitest";
import type { Line, StepLine, ToolCallLine } from "../../machines/line.ts";
import { createMirrors } from "../../src/actors/following/mirrors.ts";
import type { SaidMessage } from "../../src/actors/following/messages.ts";
import { createHeldThreads } from "../../src/actors/held-threads.ts";
import { createReply } from "../../src/actors/reply.ts";
import type { ThreadRecord } from "../../src/store.ts";
import { createReference } from "../stores/reference.ts";
import { sampleRun } from "../stores/samples.ts";
import { setTime } from "./set-time.ts";

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
  run: sampleRun("r1", { lines: [running, stepDone], streamFrom: 1 }),
  tail: [],
  messageCount: 1,
  waitingCount: 0,
};

/** A reader that follows `record` over a store that has, by the next look, `later`. */
function follow(later: ThreadRecord = record) {
  const time = setTime();
  const log = { info() {}, warn() {}, error() {} };
  const mirrors = createMirrors(
    { store: { ...createReference(time.clock), load: async () => later }, timers: time.timers, log },
    createHeldThreads({ onBegun() {}, onDoubt() {} }),
  );
  const told: Line[] = [];
  const reply = createReply("r1");
  reply.read((lines) => void told.push(...lines));
  mirrors.follow(record, reply, 1);
  return {
    mirrors,
    told,
    /** Lets the next look into the store take place. */
    look: async () => {
      time.pass(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const delta = (text: string) => ({ type: "delta", text }) as const;
const said = { type: "said", runId: "r1", terminal: null } as const;

test("P7: the late end of an earlier stream does not end the stream that a page's result opened", () => {
  const { mirrors, told } = follow();
  const late: SaidMessage = { ...said, base: 0, fence: "A:1", from: 0, lines: [running], terminal: call };
  const done = { type: "done", elapsedMs: 5 } as const;
  mirrors.receive(late);
  mirrors.receive({ ...said, base: 0, fence: "A:2", from: 2, lines: [delta("It is in.")], terminal: done });
  mirrors.stop();
  expect(told).toEqual([stepDone, delta("It is in."), done]);
});

describe("P4: a follower that has words of a holder that is gone, and missed the one after it", () => {
  /** C took the run from B, who had saved `text`; the reader has “It is” of A. */
  function missesB(text: string) {
    const lines = [running, stepDone, delta(text)];
    const following = follow({ ...record, fence: "C:4", run: sampleRun("r1", { lines, streamFrom: 1 }) });
    const { mirrors } = following;
    mirrors.receive({ ...said, base: 2, fence: "A:2", from: 2, lines: [delta("It is")] });
    mirrors.receive({ ...said, base: 2 + text.length, fence: "C:4", from: 7, lines: [delta(" now in.")] });
    expect(following.told).toEqual([stepDone, delta("It is")]);
    return following;
  }

  test("is cut off where other words were saved", async () => {
    const { look, told } = missesB("There it goes");
    await look();
    expect(told.slice(2)).toMatchObject([{ type: "error", code: "interrupted" }]);
  });

  test("goes on where its words were saved", async () => {
    const { look, told, mirrors } = missesB("It is now");
    await look();
    mirrors.receive({ ...said, base: 11, fence: "C:4", from: 7, lines: [delta(" now in.")] });
    mirrors.stop();
    expect(told.slice(2, 3)).toEqual([delta(" now in.")]);
  });
});
