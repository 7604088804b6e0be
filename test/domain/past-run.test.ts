// For src/domain/threads/past-run.ts
import { describe, expect, test } from "vitest";
import type { ErrorLine } from "../../machines/line.ts";
import { replyMessage } from "../../src/domain/threads/past-run.ts";
import type { RunRecord } from "../../src/domain/threads/message.ts";
import { sampleRun } from "../stores/samples.ts";

const terminal: ErrorLine = { type: "error", message: "The model fell silent" };

function replyOf(changes: Partial<RunRecord>): string {
  const run = sampleRun("r1", { lines: [], terminal, outcome: "failed", ...changes });
  return replyMessage({ run, outcome: "failed", terminal, id: "2", createdAtMs: 2_000 }).content;
}

describe("the reply of a run that failed", () => {
  test("is the error's message where nothing was streamed", () => {
    expect(replyOf({})).toBe("The model fell silent");
  });

  test("is what was streamed", () => {
    expect(replyOf({ lines: [{ type: "delta", text: "Well" }] })).toBe("Well");
  });

  test("adds nothing to text that is all in kept parts", () => {
    const kept = { parts: 1, chars: 70_000 };
    expect(replyOf({ lines: [{ type: "delta", text: "", kept: 70_000 }], kept })).toBe("");
  });
});
