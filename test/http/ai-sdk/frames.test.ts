import { parseJsonEventStream, uiMessageChunkSchema } from "ai-5";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { createReply } from "../../../src/actors/reply.ts";
import { uiFrames } from "../../../src/http/ai-sdk/ui-frames.ts";
import { sseAnswer } from "../../../src/http/stream/sse-answer.ts";
import type { Outlet } from "../../../src/listener.ts";
import { requestFrom } from "../service.ts";

const PROGRESS: fc.Arbitrary<Line> = fc.oneof(
  fc.record({ type: fc.constant("delta" as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    type: fc.constant("step" as const),
    id: fc.constantFrom("a", "a#2", "b"),
    phase: fc.constantFrom("running" as const, "done" as const, "failed" as const),
    text: fc.string(),
  }),
);
const TERMINAL: fc.Arbitrary<Line> = fc.oneof(
  fc.record({
    type: fc.constant("done" as const),
    elapsedMs: fc.nat(),
    finishReason: fc.constantFrom("length", "content_filter", "another"),
  }),
  fc.constantFrom<Line>(
    { type: "done", elapsedMs: 1, handledBy: "person" },
    { type: "tool_call", tool: "cart", callId: "c", arguments: { n: 1 } },
    { type: "error", message: "It failed" },
    { type: "error", message: "It was stopped", code: "cancelled" },
    { type: "error", message: "The tools failed", code: "task_failed", hint: "sold out" },
  ),
);

function told(lines: readonly Line[]): { written: string; end: "ended" | "cut" | "open" } {
  let written = "";
  let end: "ended" | "cut" | "open" = "open";
  const outlet: Outlet = {
    write: (chunk) => void (written += String(chunk)),
    end: (chunk = "") => {
      written += String(chunk);
      end = "ended";
    },
    cut: () => void (end = "cut"),
    onDrained() {},
    onGone() {},
    pull() {},
  };
  const reply = createReply("run-1");
  reply.say(lines);
  sseAnswer(reply, requestFrom({}), uiFrames("run-1")).stream?.(outlet);
  return { written, end };
}

test("each frame is one that version 5 knows, whatever a run says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(PROGRESS), TERMINAL, async (progress, terminal) => {
      const { written, end } = told([...progress, terminal]);
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
  const { written, end } = told([
    { type: "delta", text: "Half " },
    { type: "error", message: "Goes on elsewhere", code: "interrupted" },
  ]);
  expect(end).toBe("cut");
  expect(written).not.toContain("[DONE]");
  expect(written).not.toContain("finish");
});
