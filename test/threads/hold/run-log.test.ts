// For src/threads/hold/run-log.ts
import { describe, expect, test } from "vitest";
import { createReply } from "../../../src/threads/hold/reply.ts";
import { createRunLog } from "../../../src/threads/hold/run-log.ts";
import type { Line, StepLine } from "../../../machines/line.ts";

const step: StepLine = { type: "step", id: "look", phase: "running", text: "Looking" };
const delta = (text: string): Line => ({ type: "delta", text });
const done: Line = { type: "done", elapsedMs: 1 };

/** A reader of a log from a position on, and what it was told. */
function reading(log: ReturnType<typeof createRunLog>, from: number) {
  const told: Line[] = [];
  const reply = createReply(log.runId);
  reply.read((lines) => void told.push(...lines));
  log.attach(reply, from);
  return { reply, told };
}

describe("the log of a run", () => {
  test("P4: tells a reader that is ahead of it nothing twice, and nothing too little", () => {
    const log = createRunLog("r1");
    const { told } = reading(log, 4);
    log.say([step]);
    log.say([delta("ab")]);
    log.say([delta("cdef")]);
    log.say([delta("g"), done]);
    expect(told).toEqual([delta("def"), delta("g"), done]);
  });

  test("knows how far a reader was told, whichever of the two is ahead", () => {
    const log = createRunLog("r1");
    const { reply } = reading(log, 3);
    log.say([delta("ab")]);
    expect(log.toldTo(reply)).toBe(3);
    log.say([delta("cd")]);
    expect(log.toldTo(reply)).toBe(4);
  });

  test("ends the stream of a reader that is ahead of it", () => {
    const log = createRunLog("r1");
    const { told } = reading(log, 9);
    log.say([delta("ab"), done]);
    expect(told).toEqual([done]);
  });
});
