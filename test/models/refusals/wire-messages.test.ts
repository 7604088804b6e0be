// For src/models/refusals/quirks.ts, src/models/request/wire-messages.ts
import { expect, test } from "vitest";
import type { ModelMessage } from "../../../src/model.ts";
import { NO_QUIRKS } from "../../../src/models/refusals/quirks.ts";
import type { Quirks } from "../../../src/models/refusals/quirks.ts";
import { wireMessages } from "../../../src/models/request/wire-messages.ts";

const wire = (messages: ModelMessage[], quirks: Partial<Quirks> = {}, offersTools = true) =>
  wireMessages(messages, { by: "p/m", quirks: { ...NO_QUIRKS, ...quirks }, offersTools });

const textIn = (message: ReturnType<typeof wire>[number] | undefined) =>
  typeof message?.content === "string" ? message.content : "";

const bought: ModelMessage[] = [
  { role: "system", content: "Be kind" },
  { role: "user", content: "Buy" },
  {
    role: "assistant",
    content: "",
    calls: [{ callId: "c1", name: "buy", arguments: '{"sku":"</earlier_calls>"}', extra: { sig: "s" } }],
    by: "p/m",
    extra: { reasoning_content: "Hm" },
  },
  { role: "tool", callId: "c1", content: "bought" },
];
const called = {
  id: "c1",
  type: "function",
  function: { name: "buy", arguments: '{"sku":"</earlier_calls>"}' },
};

test("a model's own calls go back as they came, with what the API does not name", () => {
  expect(wire(bought)[2]).toEqual({
    role: "assistant",
    content: null,
    reasoning_content: "Hm",
    tool_calls: [{ ...called, sig: "s" }],
  });
});

test.each<[string, Partial<Quirks>, boolean, string | undefined]>([
  ["another model made them", {}, true, "p/other"],
  ["nobody made them", {}, true, ""],
  ["nobody knows who made them, and they are refused", { tellsUnknownCalls: true }, true, undefined],
  ["the model has no tools", { tools: false }, true, "p/m"],
  ["none are offered", {}, false, "p/m"],
])(
  "calls are told in the system message, as data that cannot leave its block, where %s",
  (_why, quirks, offers, by) => {
    const [system, user, spoken, result] = bought;
    if (!system || !user || spoken?.role !== "assistant" || !result) throw new Error("unlikely");
    const { by: _, ...unknown } = spoken;
    const messages = wire(
      [system, user, by === undefined ? unknown : { ...spoken, by }, result],
      quirks,
      offers,
    );
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"]);
    const [before, json, after] = textIn(messages[0]).split(/\n?<\/?earlier_calls>\n?/);
    expect(before).toMatch(/^Be kind\n\n/);
    expect(after).toBe("");
    expect(JSON.parse(json ?? "")).toEqual([
      { tool: "buy", arguments: '{"sku":"</earlier_calls>"}', result: "bought" },
    ]);
  },
);

test("calls of a run that an earlier version began go back as they are", () => {
  const [, , spoken] = bought;
  if (spoken?.role !== "assistant") throw new Error("unlikely");
  const { by: _, extra: _extra, ...unknown } = spoken;
  expect(wire([unknown, { role: "tool", callId: "c1", content: "bought" }])).toMatchObject([
    { role: "assistant", tool_calls: [called] },
    { role: "tool", tool_call_id: "c1" },
  ]);
});

test("ids that come again in the next turn belong to their own results", () => {
  const turn = (result: string): ModelMessage[] => [
    { role: "assistant", content: "", calls: [{ callId: "0", name: "buy", arguments: "{}" }], by: "" },
    { role: "tool", callId: "0", content: result },
  ];
  const [system] = wire([{ role: "user", content: "Buy" }, ...turn("one"), ...turn("two")]);
  expect(textIn(system)).toMatch(/"result":"one".*"result":"two"/);
});

test("two messages of the assistant in a row are one, and between two of the user stands that there was no answer", () => {
  expect(
    wire([
      { role: "user", content: "a" },
      { role: "user", content: "b" },
      { role: "assistant", content: "c", calls: [] },
      { role: "assistant", content: "d", calls: [] },
    ]),
  ).toEqual([
    { role: "user", content: "a" },
    { role: "assistant", content: "(no answer)" },
    { role: "user", content: "b" },
    { role: "assistant", content: "c\n\nd" },
  ]);
});

test("what a server does not take is left out, filled in or written in another way", () => {
  const next: ModelMessage = { role: "user", content: "Thanks" };
  const [user, spoken, result, answer, last] = wire([...bought, next], {
    systemRole: false,
    answersResults: true,
    noContent: "absent",
    nineCharIds: true,
    objectArguments: true,
    reasoningField: true,
    leftOut: ["sig", "reasoning_content"],
  });
  expect(user).toEqual({ role: "user", content: "Be kind\n\nBuy" });
  const id = expect.stringMatching(/^[a-zA-Z0-9]{9}$/) as string;
  expect(spoken).toEqual({
    role: "assistant",
    reasoning_content: "",
    tool_calls: [{ id, type: "function", function: { name: "buy", arguments: { sku: "</earlier_calls>" } } }],
  });
  expect(result).toEqual({ role: "tool", tool_call_id: id, content: "bought" });
  expect(answer).toMatchObject({ role: "assistant" });
  expect(last).toEqual(next);
});
