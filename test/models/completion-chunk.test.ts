import { expect, test } from "vitest";
import { readChunk } from "../../src/models/completion-chunk.ts";
import type { CompletionChunk } from "../../src/models/completion-chunk.ts";

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
      { index: 0, id: "", name: "", arguments: "", extra: null },
      { index: 0, id: "", name: "", arguments: "", extra: null },
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

test.each<[string, unknown]>([
  ["null", null],
  ["a list", []],
  ["choices", { choices: "none" }],
  ["choices as an object", { choices: {} }],
  ["a choice", { choices: ["none"] }],
  ["another choice", { choices: [{}, null] }],
  ["a choice's index", inChoice({ index: "0" })],
  ["a finish_reason", inChoice({ finish_reason: 1 })],
  ["a delta", inChoice({ delta: "text" })],
  ["a content", inDelta({ content: { text: "text" } })],
  ["a part of a content", inDelta({ content: [7] })],
  ["a refusal", inDelta({ refusal: false })],
  ["tool_calls", inDelta({ tool_calls: {} })],
  ["a call", inDelta({ tool_calls: [null] })],
  ["a call's index", inCall({ index: "0" })],
  ["a call's id", inCall({ id: 7 })],
  ["a function", inCall({ function: "find" })],
  ["a function's name", inCall({ function: { name: {} } })],
  ["a function's arguments", inCall({ function: { arguments: [] } })],
])("P28: a chunk of another shape is refused: %s", (_name, json) => {
  expect(() => readChunk(json)).toThrow(TypeError);
});
