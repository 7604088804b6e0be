import fc from "fast-check";
import type { Line } from "../../../machines/line.ts";
import { createReply } from "../../../src/threads/hold/reply.ts";
import type { Translation } from "../../../src/http/stream/sse-answer.ts";
import { sseAnswer } from "../../../src/http/stream/sse-answer.ts";
import type { Outlet } from "../../../src/listener.ts";
import { requestFrom } from "../service.ts";

/** What a run may say before its end. */
export const PROGRESS: fc.Arbitrary<Line> = fc.oneof(
  fc.record({ type: fc.constant("delta" as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    type: fc.constant("step" as const),
    id: fc.constantFrom("a", "a#2", "b"),
    phase: fc.constantFrom("running" as const, "done" as const, "failed" as const),
    text: fc.string(),
  }),
  fc.record({
    type: fc.constant("step" as const),
    id: fc.constant("search_knowledge"),
    phase: fc.constant("done" as const),
    text: fc.string(),
    sources: fc.array(
      fc.record({ title: fc.string(), url: fc.constantFrom("https://x.example/a?b", "rules.md", "a/b") }),
    ),
  }),
);

/** What it may end with. */
export const TERMINAL: fc.Arbitrary<Line> = fc.oneof(
  fc.record({
    type: fc.constant("done" as const),
    elapsedMs: fc.nat(),
    finishReason: fc.constantFrom("length", "content_filter", "another"),
  }),
  fc.constantFrom<Line>(
    { type: "done", elapsedMs: 1, handledBy: "person" },
    {
      type: "done",
      elapsedMs: 1,
      inputTokens: 3,
      outputTokens: 4,
      totalInputTokens: 3,
      totalOutputTokens: 4,
    },
    { type: "tool_call", tool: "cart", callId: "c", arguments: { n: 1 } },
    { type: "error", message: "It failed" },
    { type: "error", message: "It was stopped", code: "cancelled" },
    { type: "error", message: "The tools failed", code: "task_failed", hint: "sold out" },
  ),
);

/** The answer for a run `run-1` that said these lines: its bytes, and how it ended. */
export function told(
  lines: readonly Line[],
  frames: Translation,
): { written: string; end: "ended" | "cut" | "open" } {
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
  sseAnswer(reply, requestFrom({}), frames).stream?.(outlet);
  return { written, end };
}

/** The events of a stream, but for AI SDK's last one, which is no JSON. */
export function eventsOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice("data: ".length)) as Record<string, unknown>);
}
