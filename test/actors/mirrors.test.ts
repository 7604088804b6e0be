import { expect, test } from "vitest";
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

test("P7: the late end of an earlier stream does not end the stream that a page's result opened", () => {
  const { clock, timers } = setTime();
  const log = { info() {}, warn() {}, error() {} };
  const mirrors = createMirrors(
    { store: createReference(clock), timers, log },
    createHeldThreads(() => {}),
  );
  const told: Line[] = [];
  const reply = createReply("r1");
  reply.read((lines) => void told.push(...lines));
  mirrors.follow(record, reply, 1);

  const said = { type: "said", runId: "r1", base: 0 } as const;
  const late: SaidMessage = { ...said, fence: "A:1", from: 0, lines: [running], terminal: call };
  const news: SaidMessage = {
    ...said,
    fence: "A:2",
    from: 2,
    lines: [{ type: "delta", text: "It is in." }],
    terminal: { type: "done", elapsedMs: 5 },
  };
  mirrors.receive(late);
  mirrors.receive(news);
  mirrors.stop();
  expect(told).toEqual([stepDone, { type: "delta", text: "It is in." }, { type: "done", elapsedMs: 5 }]);
});
