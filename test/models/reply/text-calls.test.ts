// For src/models/reply/text-calls.ts, src/models/refusals/odd-answers.ts
import { expect, onTestFinished, test } from "vitest";
import { openOpenAi } from "../../../src/models/openai.ts";
import type { OddAnswer } from "../../../src/models/refusals/odd-answers.ts";
import { createTextCallFilter, endsInCall } from "../../../src/models/reply/text-calls.ts";
import { bytes, call, cut, say, startModelServer } from "../../support/servers/model-server.ts";
import type { Script } from "../../support/servers/model-server.ts";
import { noPause, startTurn } from "../../support/servers/open-model.ts";

const offered = ["find", "buy"];
const ONE = '{"name": "find", "arguments": {"q": "a"}}';

function read(text: string, pieces = text.split("")) {
  const filter = createTextCallFilter(offered);
  const told = pieces.map((piece) => filter.push(piece)).join("");
  const { calls, text: rest } = filter.end();
  return { told, rest, calls: calls.map(({ name, arguments: args }) => [name, args]) };
}

test.each([
  ONE,
  `\n ${ONE} \n`,
  '{"name":"find","parameters":{"q":"a"}}',
  '{"type": "function", "name": "find", "parameters": {"q": "a"}}',
  '{"type":"function","function":{"name":"find","arguments":"{\\"q\\":\\"a\\"}"}}',
  '{"arguments": {"q": "a"}, "name": "find"}',
  `[${ONE}]`,
  `{"tool_calls": [${ONE}]}`,
  `\`\`\`json\n${ONE}\n\`\`\``,
  `\`\`\`\n${ONE}\`\`\``,
  `<tool_call>\n${ONE}\n</tool_call>`,
  `<tool_call>${ONE}`,
  `[TOOL_CALLS][${ONE}]`,
  `<|python_tag|>${ONE}`,
  '<function=find>{"q": "a"}</function>',
  '<function=find{"q": "a"}</function>',
])("M14: a text that is nothing but a call of an offered tool is one, and is not told: %s", (text) => {
  const found = { told: "", rest: "", calls: [["find", '{"q":"a"}']] };
  expect(read(text)).toEqual(found);
  expect(read(text, [text])).toEqual(found);
});

test("M14: several calls are several", () => {
  const tag = (json: string) => `<tool_call>${json}</tool_call>`;
  const calls = [
    ["find", '{"q":"a"}'],
    ["buy", "{}"],
  ];
  expect(read(`${tag(ONE)}\n${tag('{"name":"buy","arguments":{}}')}`).calls).toEqual(calls);
  expect(read(`[${ONE}, {"name":"buy","arguments":{}}]`).calls).toEqual(calls);
});

test.each([
  "Hello",
  "",
  " \n",
  '{"name": "sell", "arguments": {}}',
  '{"name": "find"}',
  '{"name": "find", "arguments": "a"}',
  '{"name": "Ada", "age": 36}',
  `${ONE} is what I would call.`,
  `I call ${ONE}`,
  `${ONE.slice(0, -1)}`,
  `[${ONE}, {"name":"sell","arguments":{}}]`,
  "```js\nfind()\n```",
  "[1] first, [2] second",
  "<tool_call>find</tool_call>",
  `{"name":"find","arguments":{"q":"${"x".repeat(140_000)}"}}`,
])("M14: any other text is told as it is: %j", (text) => {
  const { told, rest, calls } = read(text);
  expect(told + rest).toBe(text);
  expect(calls).toEqual([]);
});

test.each([
  ["Hello", "H"],
  ['{"answer": 1}', '{"an'],
  ["[1]", "[1"],
  ["[TODO]", "[TOD"],
  ["`code`", "`c"],
  ["```js\nx", "```js\nx"],
  ["<b>", "<b"],
])("M14: a text that begins otherwise does not wait: %j after %j", (text, beginning) => {
  const filter = createTextCallFilter(offered);
  expect(
    beginning
      .split("")
      .map((piece) => filter.push(piece))
      .join(""),
  ).toBe(beginning);
  expect(filter.isText).toBe(true);
  expect(text.startsWith(beginning)).toBe(true);
});

test("M14: a call behind words of a reply is known, and no call", async () => {
  for (const call of [ONE, `[${ONE}]`, `\`\`\`json\n${ONE}\n\`\`\``, `<tool_call>${ONE}</tool_call>`])
    expect(endsInCall(`Let me look.\n\n${call}\n`, offered)).toBe(true);
  for (const text of [
    "Let me look.",
    `{"a":1}`,
    `So:\n{"name": "Ada"}`,
    `So:\n${ONE.replace("find", "sell")}`,
    "",
    "a\n```\n```",
  ])
    expect(endsInCall(text, offered)).toBe(false);
  const { model, odd } = await openOn([[say(`Let me look.\n${ONE}`)]]);
  expect((await startTurn(model, { request: { tools } }).turn).text).toBe(`Let me look.\n${ONE}`);
  expect(odd.map(({ oddity }) => oddity)).toEqual(["call_as_text"]);
});

async function openOn(script: Script, quirks: { textCalls?: boolean } = {}) {
  const warnings: { fields: object; text: string }[] = [];
  const odd: OddAnswer[] = [];
  const server = await startModelServer(script);
  const model = openOpenAi({
    apiKey: null,
    baseUrl: server.baseUrl,
    silenceMs: 30_000,
    pause: noPause,
    quirks,
    log: { warn: (fields, text) => void warnings.push({ fields, text }) },
    onOdd: (answer) => void odd.push(answer),
  });
  onTestFinished(async () => {
    await model.close();
    await server.close();
  });
  return { server, model, warnings, odd };
}

const tools = offered.map((name) => ({ name, description: "", parameters: { type: "object" } }));

test("M14: with textCalls the text is the call, and the visitor reads nothing of it", async () => {
  const { model, warnings } = await openOn([[say(ONE.slice(0, 9)), say(ONE.slice(9))]], { textCalls: true });
  const { turn, written } = startTurn(model, { request: { tools } });
  expect((await turn).calls).toEqual([
    { callId: expect.stringMatching(/^call_/) as string, name: "find", arguments: '{"q":"a"}' },
  ]);
  expect(written).toEqual([]);
  expect(warnings).toEqual([]);
});

test("M14: without it the model is asked again, the visitor reads nothing, and the log says so once", async () => {
  const { server, model, warnings, odd } = await openOn([
    [say(ONE)],
    "Fine.",
    [say(ONE)],
    [say(ONE)],
    [say(ONE)],
  ]);
  const { turn, written } = startTurn(model, { request: { tools } });
  expect((await turn).text).toBe("Fine.");
  expect(written.join("")).toBe("Fine.");
  await expect(startTurn(model, { request: { tools } }).turn).rejects.toThrow("was not understood");
  expect(server.requests).toHaveLength(5);
  expect(odd).toEqual(
    Array.from({ length: 4 }, () => ({ provider: "openai", model: "scripted", oddity: "call_as_text" })),
  );
  expect(warnings).toEqual([
    {
      fields: { model: "openai/scripted", oddity: "call_as_text" },
      text: expect.stringContaining('"textCalls": true') as string,
    },
  ]);
});

test("M14: where no tools are offered, or a call was made, the same text is text, or an echo", async () => {
  const { model } = await openOn([[say(ONE)], [say(ONE), call("find", { q: "a" })]]);
  expect((await startTurn(model).turn).text).toBe(ONE);
  const echoed = await startTurn(model, { request: { tools } }).turn;
  expect([echoed.text, echoed.calls.length]).toEqual(["", 1]);
});

test("M13: a [DONE] without a finish_reason is no stop, and the log says so once", async () => {
  const polite = () => [say("The answer is"), bytes("data: [DONE]\n\n"), cut()];
  const { model, warnings, odd } = await openOn([polite(), polite()]);
  for (const _ of [1, 2])
    expect(await startTurn(model).turn).toMatchObject({ text: "The answer is", finishReason: null });
  expect(odd.map(({ oddity }) => oddity)).toEqual(["no_finish_reason", "no_finish_reason"]);
  expect(warnings.map(({ text }) => text)).toEqual([expect.stringContaining("without a finish_reason")]);
});
