// For src/threads/hold/remembered.ts
import { describe, expect, it } from "vitest";
import { createRemembered } from "../../../src/threads/hold/remembered.ts";
import type { Message } from "../../../src/domain/threads/message.ts";
import type { ThreadRecord } from "../../../src/store.ts";
import { sampleMessage } from "../../stores/samples.ts";

const BUDGET = 100;

function recordOf(uid: string, tail: Message[] = []): ThreadRecord {
  return {
    uid,
    slug: "shop",
    rev: 1,
    lastOp: "op",
    fence: null,
    state: "idle",
    snapshot: "{}",
    catalog: [],
    catalogId: null,
    run: null,
    tail,
    messageCount: tail.length,
    waitingCount: 0,
  };
}

const saying = (nth: number, chars: number) => sampleMessage(nth, { content: "x".repeat(chars) });

function remembering() {
  const clock = { nowMs: 0, elapsed: () => clock.nowMs };
  return { clock, remembered: createRemembered(clock, { historyBudgetChars: BUDGET }) };
}

describe("threads that were released lately", () => {
  it("are given once: whoever takes one changes it", () => {
    const { remembered } = remembering();
    remembered.set(recordOf("t1"));
    expect(remembered.take("t1")?.uid).toBe("t1");
    expect(remembered.take("t1")).toBeUndefined();
  });

  it("are forgotten after a minute, and at once where they were deleted", () => {
    const { clock, remembered } = remembering();
    for (const uid of ["t1", "t2", "t3"]) remembered.set(recordOf(uid));
    remembered.forget("t1");
    clock.nowMs = 59_999;
    expect(remembered.take("t1")).toBeUndefined();
    expect(remembered.take("t2")?.uid).toBe("t2");
    clock.nowMs = 60_000;
    expect(remembered.take("t3")).toBeUndefined();
  });

  it("keep as much of their history as a load would read, and one message at least", () => {
    const { remembered } = remembering();
    const tailOf = (tail: Message[]) => {
      remembered.set(recordOf("t1", tail));
      return remembered.take("t1")?.tail.map(({ id }) => id);
    };
    expect(tailOf([saying(1, 60), saying(2, 60), saying(3, 40)])).toEqual(["2", "3"]);
    expect(tailOf([saying(1, 1), saying(2, 60), saying(3, 41)])).toEqual(["3"]);
    expect(tailOf([saying(1, 1), saying(2, 1_000)])).toEqual(["2"]);
    expect(tailOf([])).toEqual([]);
  });

  it("are bounded by their text: the oldest go first", () => {
    const { remembered } = remembering();
    const long = 1_000_000;
    for (let nth = 1; nth <= 20; nth++) remembered.set(recordOf(`t${nth}`, [saying(1, long)]));
    const known = Array.from({ length: 20 }, (_, nth) => remembered.take(`t${nth + 1}`)?.uid);
    expect(known.slice(0, 4)).toEqual([undefined, undefined, undefined, undefined]);
    expect(known.slice(4)).toEqual(Array.from({ length: 16 }, (_, nth) => `t${nth + 5}`));
  });
});
