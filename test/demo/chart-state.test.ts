// For src/demo/chart-state.ts
import { expect, test } from "vitest";
import type { Line } from "../../machines/line.ts";
import { afterLine, afterPerson, afterSaid } from "../../src/demo/chart-state.ts";
import type { ChartState } from "../../src/demo/chart-state.ts";

const pageTools = new Set(["cart"]);
const after = (state: ChartState, ...lines: Line[]) =>
  lines.reduce((at, line) => afterLine(at, line, pageTools), state);
const running = (id: string): Line => ({ type: "step", id, phase: "running", text: "" });
const ended = { type: "done", elapsedMs: 1 } as const;
const handedOver = { ...ended, handledBy: "person" } as const;
const nobody = { waitingSince: null, name: null };

test("the lines of a run tell where its thread is in the chart", () => {
  expect(afterSaid("idle")).toBe("running.thinking");
  expect(after("running.thinking", running("search"))).toBe("running.usingServerTool");
  expect(after("running.thinking", running("cart#2"))).toBe("awaitingPageTool");
  expect(after("awaitingPageTool", { type: "delta", text: "Here" })).toBe("running.thinking");
  expect(after("running.thinking", ended)).toBe("idle");
});

test("a person who is waited for or answers keeps the thread, whatever the visitor says", () => {
  expect(after("running.thinking", handedOver)).toBe("waiting_for_person");
  expect(afterPerson("waiting_for_person", { waitingSince: null, name: "Ann" })).toBe("with_person");
  expect(after(afterSaid("with_person"), handedOver)).toBe("with_person");
  expect(afterPerson("with_person", nobody)).toBe("idle");
});

test("the assistant that is back while a run goes on leaves the run where it is", () => {
  expect(afterPerson("running.thinking", nobody)).toBe("running.thinking");
  expect(afterPerson("idle", { waitingSince: 5, name: null })).toBe("waiting_for_person");
});
