import { expect, test } from "vitest";
import { readChunk } from "../../src/models/completion-chunk.ts";

const nothing = { text: "", calls: [], isLast: false, usage: null, error: undefined };
const inChoice = (choice: object) => ({ choices: [choice] });
const inDelta = (delta: object) => inChoice({ delta });
const inCall = (call: object) => inDelta({ tool_calls: [call] });

test.each<[string, unknown]>([
  ["no fields", {}],
  ["no choices", { choices: null }],
  ["an empty list of choices", { choices: [] }],
  ["an empty choice", inChoice({})],
  ["a choice of nulls", inChoice({ index: null, delta: null, finish_reason: null })],
  ["a delta of nulls", inDelta({ content: null, refusal: null, tool_calls: null })],
  ["only another choice", inChoice({ index: 1, delta: { content: "other" }, finish_reason: "stop" })],
  ["usage without counts", { usage: {} }],
  ["usage below zero", { usage: { prompt_tokens: -1, completion_tokens: 2 } }],
  ["usage in parts of a token", { usage: { prompt_tokens: 1, completion_tokens: 0.5 } }],
  ["usage that is no object", { usage: "much" }],
])("a chunk that says nothing is fine: %s", (_name, json) => {
  expect(readChunk(json)).toEqual(nothing);
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
      { index: 1, id: "c", name: "find", arguments: "{" },
      { index: 0, id: "", name: "", arguments: "" },
      { index: 0, id: "", name: "", arguments: "" },
    ],
    isLast: true,
    usage: { input: 3, output: 0 },
    error: "e",
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
  ["a content", inDelta({ content: ["text"] })],
  ["a refusal", inDelta({ refusal: false })],
  ["tool_calls", inDelta({ tool_calls: {} })],
  ["a call", inDelta({ tool_calls: [null] })],
  ["a call's index", inCall({ index: "0" })],
  ["a call's id", inCall({ id: 7 })],
  ["a function", inCall({ function: "find" })],
  ["a function's name", inCall({ function: { name: {} } })],
  ["a function's arguments", inCall({ function: { arguments: {} } })],
])("P28: a chunk of another shape is refused: %s", (_name, json) => {
  expect(() => readChunk(json)).toThrow(TypeError);
});
