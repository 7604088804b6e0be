// For src/models/reply/completion-chunk.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { readChunk } from "../../../src/models/reply/completion-chunk.ts";
import type { CompletionChunk } from "../../../src/models/reply/completion-chunk.ts";

const nothing: CompletionChunk = {
  text: "",
  calls: [],
  extra: null,
  finishReason: null,
  usage: null,
  hasNoChoice: true,
  error: undefined,
};
const inChoice = (choice: object) => ({ choices: [choice] });
const inDelta = (delta: object) => inChoice({ delta });
const inCall = (call: object) => inDelta({ tool_calls: [call] });

test.each<[string, unknown]>([
  ["no fields", {}],
  ["no choices", { choices: null }],
  ["an empty list of choices", { choices: [] }],
  ["usage without counts", { usage: {} }],
  ["usage below zero", { usage: { prompt_tokens: -1, completion_tokens: 2 } }],
  ["usage in parts of a token", { usage: { prompt_tokens: 1, completion_tokens: 0.5 } }],
  ["usage that is no object", { usage: "much" }],
])("a chunk that says nothing is fine: %s", (_name, json) => {
  expect(readChunk(json)).toEqual(nothing);
});

test.each<[string, unknown]>([
  ["an empty one", inChoice({})],
  ["one of nulls", inChoice({ index: null, delta: null, finish_reason: null })],
  ["one with a delta of nulls", inDelta({ content: null, refusal: null, tool_calls: null })],
  ["only another one", inChoice({ index: 1, delta: { content: "other" }, finish_reason: "stop" })],
])("a chunk with a choice that says nothing is fine: %s", (_name, json) => {
  expect(readChunk(json)).toEqual({ ...nothing, hasNoChoice: false });
});

test("a chunk says text, calls, an end, usage and an error", () => {
  const part = { index: 1, id: "c", function: { name: "find", arguments: "{" } };
  const delta = { content: "Hel", refusal: "lo", tool_calls: [part, { function: null }, {}] };
  expect(
    readChunk({
      choices: [
        { index: 1, delta: { content: "other" } },
        { delta, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 0 },
      error: "e",
    }),
  ).toEqual({
    text: "Hello",
    calls: [
      { index: 1, id: "c", name: "find", arguments: "{", extra: null },
      { index: null, id: "", name: "", arguments: "", extra: null },
      { index: null, id: "", name: "", arguments: "", extra: null },
    ],
    extra: null,
    finishReason: "stop",
    usage: { input: 3, output: 0 },
    hasNoChoice: false,
    error: "e",
  });
});

test("what other servers send is read too: parts of a content, arguments as an object, the answer as a message", () => {
  const parts = [
    { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
    { type: "reasoning", text: "hm" },
    { type: "text", text: "Hel" },
    "lo",
  ];
  const tool_calls = [{ id: "c", function: { name: "find", arguments: { words: "mug" } } }];
  expect(readChunk(inChoice({ message: { role: "assistant", content: parts, tool_calls } }))).toMatchObject({
    text: "Hello",
    calls: [{ id: "c", name: "find", arguments: '{"words":"mug"}' }],
  });
});

test("fields that the API does not name are kept, of the message and of each call", () => {
  const call = {
    id: "c",
    function: { name: "find", arguments: "{}", strict: true },
    extra_content: { google: { thought_signature: "sig" } },
  };
  const read = readChunk(inDelta({ reasoning_content: "hm", audio: null, tool_calls: [call] }));
  expect(read.extra).toEqual({ reasoning_content: "hm" });
  expect(read.calls[0]?.extra).toEqual({
    extra_content: { google: { thought_signature: "sig" } },
    function: { strict: true },
  });
});

const call = { index: null, id: "", name: "", arguments: "", extra: null };

test.each<[string, unknown, Partial<CompletionChunk>]>([
  ["null", null, {}],
  ["a list", [], {}],
  ["a list of one", [{ error: "e" }], { error: "e" }],
  ["choices", { choices: "none" }, {}],
  ["choices as an object", { choices: { delta: { content: "a" } } }, { text: "a", hasNoChoice: false }],
  ["a choice", { choices: ["none"] }, {}],
  ["another choice", { choices: [null, { delta: { content: "a" } }] }, { text: "a", hasNoChoice: false }],
  ["a choice's index", inChoice({ index: "0", delta: { content: "a" } }), { text: "a", hasNoChoice: false }],
  ["a finish_reason", inChoice({ finish_reason: 1 }), { finishReason: "1", hasNoChoice: false }],
  [
    "a finish_reason as an object",
    inChoice({ finish_reason: { type: "stop" } }),
    { finishReason: "stop", hasNoChoice: false },
  ],
  ["a finish_reason that is the word null", inChoice({ finish_reason: "null" }), { hasNoChoice: false }],
  ["a delta", inChoice({ delta: "text" }), { text: "text", hasNoChoice: false }],
  ["a content", inDelta({ content: { type: "text", text: "text" } }), { text: "text", hasNoChoice: false }],
  ["a content that is a number", inDelta({ content: 7 }), { text: "7", hasNoChoice: false }],
  ["a part of a content", inDelta({ content: [7, true, "a"] }), { text: "7a", hasNoChoice: false }],
  ["a refusal", inDelta({ refusal: false, content: "a" }), { text: "a", hasNoChoice: false }],
  ["no tool_calls", inDelta({ tool_calls: {} }), { calls: [call], hasNoChoice: false }],
  [
    "tool_calls as an object",
    inDelta({ tool_calls: { id: "c" } }),
    { calls: [{ ...call, id: "c" }], hasNoChoice: false },
  ],
  ["tool_calls as a text", inDelta({ tool_calls: "none", content: "a" }), { text: "a", hasNoChoice: false }],
  ["a call", inDelta({ tool_calls: [null], content: "a" }), { text: "a", hasNoChoice: false }],
  ["a call's index", inCall({ index: "1" }), { calls: [{ ...call, index: 1 }], hasNoChoice: false }],
  ["a call's id", inCall({ id: 7 }), { calls: [{ ...call, id: "7" }], hasNoChoice: false }],
  [
    "a function",
    inCall({ function: "find", arguments: {} }),
    { calls: [{ ...call, name: "find", arguments: "{}" }], hasNoChoice: false },
  ],
  [
    "a call without a function",
    inCall({ name: "find", arguments: "{}" }),
    { calls: [{ ...call, name: "find", arguments: "{}" }], hasNoChoice: false },
  ],
  ["a function's name", inCall({ function: { name: {} } }), { calls: [call], hasNoChoice: false }],
  [
    "a function's arguments",
    inCall({ function: { arguments: [] } }),
    { calls: [{ ...call, arguments: "[]" }], hasNoChoice: false },
  ],
  ["an empty error", { error: {} }, {}],
  ["no error", { error: false }, {}],
  ["an error as a text", { error: "e" }, { error: "e" }],
])("B6: P28: of a chunk of another shape is read what can be read: %s", (_name, json, read) => {
  expect(readChunk(json)).toEqual({ ...nothing, ...read });
});

test("B6: no JSON value is too odd for a chunk", () => {
  const odd = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom(null, true, 0, -1, "", "0", "x"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(
        fc.constantFrom(
          "choices",
          "delta",
          "message",
          "content",
          "tool_calls",
          "function",
          "function_call",
          "name",
          "arguments",
          "index",
          "id",
          "usage",
          "prompt_tokens",
          "completion_tokens",
          "finish_reason",
          "error",
          "type",
          "text",
          "x_groq",
        ),
        tie("value"),
      ),
    ),
  }));
  fc.assert(
    fc.property(odd.value, (json) => {
      const { text, calls, finishReason } = readChunk(json);
      expect(typeof text).toBe("string");
      for (const { index, ...each } of calls) {
        expect(typeof index === "number" || index === null).toBe(true);
        expect([each.id, each.name, each.arguments].every((field) => typeof field === "string")).toBe(true);
      }
      expect(typeof finishReason === "string" || finishReason === null).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("the old function_call delta is a call", () => {
  expect(
    readChunk(inDelta({ content: null, function_call: { name: "find", arguments: "{" } })).calls,
  ).toEqual([{ ...call, name: "find", arguments: "{" }]);
  const both = {
    function_call: { name: "find", arguments: "{}" },
    tool_calls: [{ id: "c", function: { name: "find", arguments: "{}" } }],
  };
  expect(readChunk(inDelta(both)).calls).toEqual([{ ...call, id: "c", name: "find", arguments: "{}" }]);
});

test.each<[string, unknown]>([
  ["of Groq", { x_groq: { id: "r", usage: { prompt_tokens: 10, completion_tokens: 5 } } }],
  ["of Moonshot", inChoice({ delta: {}, usage: { prompt_tokens: 10, completion_tokens: 5 } })],
  ["in the message", inDelta({ usage: { input_tokens: 10, output_tokens: 5 } })],
  ["of Gemini", { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5 } }],
  ["of Ollama", { prompt_eval_count: 10, eval_count: 5 }],
  ["as texts", { usage: { prompt_tokens: "10", completion_tokens: "5" } }],
  [
    "beside one that says nothing",
    { usage: {}, x_groq: { usage: { prompt_tokens: 10, completion_tokens: 5 } } },
  ],
])("B9: usage is read in other places, too: %s", (_place, json) => {
  expect(readChunk(json)).toMatchObject({ usage: { input: 10, output: 5 }, extra: null });
});
