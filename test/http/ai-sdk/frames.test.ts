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

test("documents that a reply rests on are sources, of the web or of a file", () => {
  const sources = [
    { title: "Returns", url: "https://shop.example/returns" },
    { title: "Rules", url: "rules/all.md" },
    { title: "Other", url: "other" },
  ];
  const { written } = toldAsFrames([
    { type: "step", id: "search_knowledge", phase: "done", text: "Searching", sources },
    { type: "done", elapsedMs: 1 },
  ]);
  const frames = written
    .split("\n\n")
    .filter((frame) => frame.includes('"source-'))
    .map((frame) => JSON.parse(frame.slice("data: ".length)) as object);
  expect(frames).toEqual([
    {
      type: "source-url",
      sourceId: "https://shop.example/returns",
      url: "https://shop.example/returns",
      title: "Returns",
    },
    {
      type: "source-document",
      sourceId: "rules/all.md",
      mediaType: "text/markdown",
      title: "Rules",
      filename: "rules/all.md",
    },
    {
      type: "source-document",
      sourceId: "other",
      mediaType: "application/octet-stream",
      title: "Other",
      filename: "other",
    },
  ]);
});
