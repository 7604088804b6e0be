// For test/simulation/
import { describe, expect, test } from "vitest";
import { createVirtualTime } from "./virtual-time.ts";

describe("virtual time", () => {
  test("runs events by time, and those of one moment in the order of their planning", async () => {
    const time = createVirtualTime();
    const seen: string[] = [];
    for (const [ms, name] of [
      [5, "b"],
      [1, "a"],
      [5, "c"],
      [9, "d"],
    ] as const) {
      time.after(ms, () => void seen.push(`${name}${time.nowMs}`));
    }
    await time.run(10, () => false);
    expect(seen).toEqual(["a1", "b5", "c5", "d9"]);
  });

  test("lets everything that follows from an event happen before the next one", async () => {
    const time = createVirtualTime();
    const seen: string[] = [];
    time.after(1, () => {
      void (async () => {
        for (let i = 0; i < 50; i++) await Promise.resolve();
        seen.push("what followed");
      })();
    });
    time.after(1, () => void seen.push("next"));
    await time.run(10, () => false);
    expect(seen).toEqual(["what followed", "next"]);
  });

  test("runs nothing that was called off, and nothing after its end", async () => {
    const time = createVirtualTime();
    const seen: string[] = [];
    const callOff = time.after(1, () => void seen.push("called off"));
    time.after(11, () => void seen.push("too late"));
    callOff();
    await time.run(10, () => false);
    expect(seen).toEqual([]);
    expect(time.nowMs).toBe(10);
    await time.run(20, () => false);
    expect(seen).toEqual(["too late"]);
  });
});
