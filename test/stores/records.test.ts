// For src/stores/backup/records.ts, src/stores/checks.ts, src/stores/records/channel-record.ts,
// src/stores/records/records.ts, src/stores/steps/threads/records.ts
import { describe, expect, it } from "vitest";
import type { RunRecord } from "../../src/domain/threads/message.ts";
import { UnreadableRecord } from "../../src/store.ts";
import { readChannel } from "../../src/stores/records/channel-record.ts";
import { isNumber, isText, optional, readerOf, shape } from "../../src/stores/checks.ts";
import {
  readCatalog,
  readMessage,
  readRun,
  readRunSummary,
  readUserMessage,
} from "../../src/stores/records/records.ts";
import { sampleChannel, sampleMessage, sampleRun, sampleWaiting } from "./samples.ts";

const usedTools: RunRecord = {
  ...sampleRun("r1"),
  speaker: {
    displayName: "Kim",
    page: "/cart?x=1",
    customerContext: { plan: "pro", seats: 3, trial: false },
  },
  turns: [
    {
      type: "assistant",
      text: "",
      calls: [{ callId: "c1", offeredName: "find", arguments: '{"__proto__":1}' }],
    },
    { type: "result", callId: "c1", text: "none", isError: true },
  ],
  lines: [
    { type: "step", id: "find#1", phase: "failed", text: "Looking" },
    { type: "delta", text: "Hello", kept: 3 },
  ],
  kept: { parts: 1, chars: 3 },
  streamFrom: 1,
  terminal: { type: "tool_call", tool: "open", arguments: { path: "/" }, callId: "c2" },
  answered: { callId: "c1", tool: "find" },
  path: [{ atMs: 1, event: "user.said", state: "running.thinking", said: ["step"] }],
};

const reply = sampleMessage(2, {
  role: "assistant",
  steps: [{ id: "find#1", phase: "done", text: "Looking" }],
  calls: [{ tool: "find", arguments: "{}", result: null }],
  outcome: "superseded",
  kept: { parts: 1, chars: 3 },
});

const whole: [string, (value: unknown, place: string) => unknown, object][] = [
  [
    "channel",
    readChannel,
    sampleChannel({
      agent: {
        instructions: "Be brief",
        mcpServers: { shop: { url: "https://a.example", headers: { a: "b" } } },
      },
    }),
  ],
  ["message", readMessage, reply],
  [
    "waiting message",
    readUserMessage,
    { ...sampleWaiting("w1"), traceparent: "00-a-b-01", clientMessageId: "m1" },
  ],
  ["run", readRun, usedTools],
  [
    "run in short form",
    readRunSummary,
    {
      runId: "r1",
      saidAtMs: 1,
      outcome: null,
      path: usedTools.path,
      terminal: { type: "error", message: "x", code: "expired" },
    },
  ],
  [
    "catalog",
    readCatalog,
    [
      {
        name: "open",
        description: "Opens",
        inputSchema: { type: "object", properties: { a: {} }, required: ["a"] },
      },
    ],
  ],
];

describe("a record that is read back", () => {
  it.each(whole)("%s: is passed on as it is, with fields of a later version", (_kind, read, record) => {
    expect(read(record, "here")).toBe(record);
    if (Array.isArray(record)) return;
    const later = { ...record, addedLater: { by: 1 } };
    expect(read(later, "here")).toEqual(later);
  });

  it.each(whole.filter(([, , record]) => !Array.isArray(record)))(
    "%s: without a field that it must have, or with one of another type, it is named with its place",
    (kind, read, record) => {
      for (const name of Object.keys(record)) {
        const wrong = { ...record, [name]: Symbol("of no type") };
        expect(() => read(wrong, "t1")).toThrow(new UnreadableRecord(kind, "t1", `its ${name} does not fit`));
      }
      for (const none of [null, "text", [], undefined]) {
        expect(() => read(none, "t1")).toThrow(`Cannot read the ${kind} at t1: it is no object`);
      }
    },
  );

  it("gets what a record of an earlier version lacks", () => {
    const { path: _, ...without } = usedTools;
    expect(readRun(without, "here")).toEqual({ ...usedTools, path: [] });
    const { agent: __, ...channel } = sampleChannel();
    expect(readChannel(channel, "here")).toEqual({ ...channel, agent: {} });
  });

  it("is refused where a value is none of those that its type knows", () => {
    expect(() => readMessage({ ...reply, outcome: "lost" }, "t1")).toThrow("its outcome does not fit");
    expect(() => readRun({ ...usedTools, lines: [{ type: "sung", text: "la" }] }, "t1")).toThrow("its lines");
    expect(() => readCatalog([{ name: 1 }], "t1")).toThrow("Cannot read the catalog at t1: it does not fit");
  });

  it("may lack an optional field, and not have it of another type", () => {
    const read = readerOf("thing", shape<{ a: string; b?: number }>({ a: isText, b: optional(isNumber) }));
    expect(read({ a: "x" }, "here")).toEqual({ a: "x" });
    expect(read({ a: "x", b: 1 }, "here")).toEqual({ a: "x", b: 1 });
    expect(() => read({ a: "x", b: null }, ["k", 1])).toThrow(
      "Cannot read the thing at k,1: its b does not fit",
    );
  });
});
