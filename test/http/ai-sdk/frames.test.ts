// For src/http/ai-sdk/ui-frames.ts, src/http/stream/sse-answer.ts
import { parseJsonEventStream, uiMessageChunkSchema } from "ai-5";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { uiFrames } from "../../../src/http/ai-sdk/ui-frames.ts";
import { PROGRESS, TERMINAL, told } from "../front-ends/lines-of-run.ts";

const toldAsFrames = (lines: readonly Line[]) => told(lines, uiFrames("run-1"));

test("each frame is one that version 5 knows, whatever a run says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(PROGRESS), TERMINAL, async (progress, terminal) => {
      const { written, end } = toldAsFrames([...progress, terminal]);
      expect(end).toBe("ended");
      expect(written.endsWith("data: [DONE]\n\n")).toBe(true);
      const stream = new Response(written).body;
      if (!stream) throw new Error("No body");
      const frames: { type: string; delta?: string }[] = [];
      for await (const frame of parseJsonEventStream({ stream, schema: uiMessageChunkSchema })) {
        if (!frame.success) throw frame.error;
        frames.push(frame.value as { type: string; delta?: string });
      }
      expect(frames.slice(0, 2)).toEqual([{ type: "start", messageId: "run-1" }, { type: "start-step" }]);
      const texts = progress.map((line) => (line.type === "delta" ? line.text : ""));
      expect(frames.map(({ delta = "" }) => delta).join("")).toBe(texts.join(""));
      const counted = (type: string) => frames.filter((frame) => frame.type === type).length;
      expect(counted("text-start")).toBe(counted("text-end"));
    }),
    { numRuns: 60 },
  );
});

test("where the run goes on in another process, the connection breaks off without an end", () => {
  const { written, end } = toldAsFrames([
    { type: "delta", text: "Half " },
    { type: "error", message: "Goes on elsewhere", code: "interrupted" },
  ]);
  expect(end).toBe("cut");
  expect(written).not.toContain("[DONE]");
  expect(written).not.toContain("finish");
});
