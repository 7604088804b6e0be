// For src/http/ag-ui/agent-events.ts, src/http/stream/sse-answer.ts
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { agentEvents } from "../../../src/http/ag-ui/agent-events.ts";
import { PROGRESS, TERMINAL, told } from "../front-ends/lines-of-run.ts";
import { CLIENTS, textsOf } from "./clients.ts";

function toldAsEvents(lines: readonly Line[], isNewProtocol: boolean) {
  const names = {
    threadId: "t",
    runId: "r",
    ofRun: "run-1",
    messageId: "run-1",
    snapshot: null,
    decided: null,
  };
  return told(lines, agentEvents({ ...names, isNewProtocol }));
}

const isNew = (body: unknown) => String(body).includes('"protocolVersion":"1.0"');

describe.each(CLIENTS)("$name", (client) => {
  test("takes whatever a run says, shows all of its text, and tells a failure from an end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(PROGRESS), TERMINAL, async (progress, terminal) => {
        const chat = client.open({
          url: "http://service",
          token: "t",
          threadId: "t",
          // It has no tool to run, and asks no second time.
          tools: {},
          fetch: async (_, init) => {
            const lines: Line[] = chat.asked > 1 ? [{ type: "done", elapsedMs: 1 }] : [...progress, terminal];
            const { written, end } = toldAsEvents(lines, isNew(init?.body));
            expect(end).toBe("ended");
            return new Response(written, { headers: { "content-type": "text/event-stream" } });
          },
        });
        await chat.send("Hello");
        const texts = progress.map((line) => (line.type === "delta" ? line.text : ""));
        expect(textsOf(chat.messages).slice(1).join("")).toBe(texts.join(""));
        const hasFailed = terminal.type === "error" && terminal.code !== "cancelled";
        expect([chat.failed !== null, chat.finished !== null]).toEqual([hasFailed, !hasFailed]);
      }),
      { numRuns: 40 },
    );
  });
});

test("what an old client does not know is told to new ones alone", () => {
  const call: Line = { type: "tool_call", tool: "cart", callId: "c", arguments: {} };
  const stopped: Line = { type: "error", message: "It was stopped", code: "cancelled" };
  expect(toldAsEvents([call], true).written).toContain(
    '"outcome":{"type":"success","pendingToolCallIds":["c"]}',
  );
  expect(toldAsEvents([stopped], true).written).toContain('"outcome":{"type":"cancelled"}');
  for (const line of [call, stopped]) {
    const { written } = toldAsEvents([line], false);
    expect(written).toContain("RUN_FINISHED");
    expect(written).not.toContain("outcome");
  }
});

test("a text is closed before anything else is told, and text behind a step is a message of its own", () => {
  const { written } = toldAsEvents(
    [
      { type: "delta", text: "One" },
      { type: "step", id: "s", phase: "running", text: "Looking" },
      { type: "delta", text: "Two" },
      { type: "done", elapsedMs: 1 },
    ],
    false,
  );
  const events = written
    .trim()
    .split("\n\n")
    .map((event) => JSON.parse(event.slice("data: ".length)) as Record<string, unknown>);
  expect(events.map(({ type, messageId }) => [type, messageId])).toEqual([
    ["RUN_STARTED", undefined],
    ["TEXT_MESSAGE_START", "run-1"],
    ["TEXT_MESSAGE_CONTENT", "run-1"],
    ["TEXT_MESSAGE_END", "run-1"],
    ["ACTIVITY_SNAPSHOT", "run-1/s"],
    ["TEXT_MESSAGE_START", "run-1.2"],
    ["TEXT_MESSAGE_CONTENT", "run-1.2"],
    ["TEXT_MESSAGE_END", "run-1.2"],
    ["RUN_FINISHED", undefined],
  ]);
});

test("where the run goes on in another process, the connection breaks off without an end", () => {
  const { written, end } = toldAsEvents(
    [
      { type: "delta", text: "Half " },
      { type: "error", message: "Goes on elsewhere", code: "interrupted" },
    ],
    true,
  );
  expect(end).toBe("cut");
  expect(written).not.toMatch(/RUN_FINISHED|RUN_ERROR/);
});
