// For src/models/openai.ts, src/models/, src/models/exchange/
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { openOpenAi } from "../../src/models/openai.ts";
import {
  bytes,
  call,
  cut,
  hang,
  hold,
  noUsage,
  reset,
  say,
  startModelServer,
} from "../support/servers/model-server.ts";
import { anyCharacter } from "../support/any-character.ts";
import type { Act } from "../support/servers/model-server.ts";
import { openScriptedModel, startTurn } from "../support/servers/open-model.ts";

const chunk = (delta: object, finishReason: string | null = null) =>
  bytes(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`);
const done = bytes("data: [DONE]\n\n");

test("the request carries model, messages, tools, the key and the trace", async () => {
  const { server, model } = await openScriptedModel();
  await startTurn(model, {
    request: {
      messages: [
        { role: "system", content: "Be kind" },
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: "",
          calls: [{ callId: "c1", name: "clock", arguments: "{}" }],
          by: "openai/scripted",
        },
        { role: "tool", callId: "c1", content: "noon" },
        { role: "assistant", content: "It is noon", calls: [] },
        { role: "user", content: "Thanks" },
      ],
      tools: [{ name: "clock", description: "Tells the time", parameters: { type: "object" } }],
      maxOutputTokens: 99,
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    },
  }).turn;
  expect(server.requests[0]?.path).toBe("/v1/chat/completions");
  expect(server.requests[0]?.headers).toMatchObject({
    authorization: "Bearer sk-canary-7f3a9c",
    "content-type": "application/json",
    "accept-encoding": "identity",
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  });
  expect(server.requests[0]?.body).toEqual({
    model: "scripted",
    messages: [
      { role: "system", content: "Be kind" },
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "clock", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "noon" },
      { role: "assistant", content: "It is noon" },
      { role: "user", content: "Thanks" },
    ],
    stream: true,
    stream_options: { include_usage: true },
    tools: [
      {
        type: "function",
        function: { name: "clock", description: "Tells the time", parameters: { type: "object" } },
      },
    ],
    max_completion_tokens: 99,
  });
});

test("each request is its own: its body and its trace, beside headers that are the same each time", async () => {
  const { server, model } = await openScriptedModel();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  await startTurn(model, { request: { model: "first" } }).turn;
  await startTurn(model, { request: { model: "second", traceparent } }).turn;
  await startTurn(model, { request: { model: "third" } }).turn;
  const [first, second, third] = server.requests;
  expect(server.requests.map(({ body }) => body)).toMatchObject([
    { model: "first" },
    { model: "second" },
    { model: "third" },
  ]);
  const withoutLength = ({ "content-length": _, ...headers }: object & { "content-length"?: unknown }) =>
    headers;
  expect(withoutLength(second?.headers ?? {})).toEqual({
    ...withoutLength(first?.headers ?? {}),
    traceparent,
  });
  expect(withoutLength(third?.headers ?? {})).toEqual(withoutLength(first?.headers ?? {}));
});

test("a server without a key gets a placeholder, and no tools where none are offered", async () => {
  const server = await startModelServer();
  const model = openOpenAi({ apiKey: null, baseUrl: server.baseUrl, silenceMs: 30_000 });
  await startTurn(model).turn;
  expect(server.requests[0]?.headers.authorization).toBe("Bearer none");
  expect(server.requests[0]?.body).not.toHaveProperty("tools");
  expect(server.requests[0]?.headers).not.toHaveProperty("traceparent");
  await model.close();
  await server.close();
});

test("connections are used again", async () => {
  const { server, model } = await openScriptedModel();
  for (let n = 0; n < 20; n += 1) await startTurn(model).turn;
  expect(server.requests).toHaveLength(20);
  // A turn is over at [DONE]; the next one may begin while the body's end is still on its way.
  expect(server.connections()).toBeLessThanOrEqual(2);
});

test("many turns go on at once", async () => {
  const { server, model } = await openScriptedModel();
  const turns = Array.from({ length: 50 }, (_, n) =>
    startTurn(model, { request: { messages: [{ role: "user", content: `number ${n}` }] } }),
  );
  const texts = (await Promise.all(turns.map(({ turn }) => turn))).map(({ text }) => text);
  expect(texts).toEqual(turns.map((_, n) => `You said: number ${n}`));
  expect(server.requests).toHaveLength(50);
});

test("P4: a turn reads the same, wherever its bytes are cut", async () => {
  const { server, model } = await openScriptedModel([]);
  const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(40), { minLength: 1, maxLength: 5 }),
      async (texts, sizes) => {
        const raw = texts.map(
          (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
        );
        server.enqueue(cutUp(Buffer.from(raw.join("")), sizes));
        const { turn, written } = startTurn(model);
        const whole = wellFormed(texts.join(""));
        expect((await turn).text).toBe(whole);
        expect(written.join("")).toBe(whole);
        expect(written).toEqual(written.filter((part) => part !== "").map(wellFormed));
      },
    ),
    { numRuns: 60 },
  );
});

/** The text as UTF-8 can carry it. */
const wellFormed = (text: string) => Buffer.from(text).toString();

function* cutUp(raw: Buffer, sizes: number[]): Iterable<Act> {
  for (let at = 0, n = 0; at < raw.length; n += 1) {
    const size = 1 + (sizes[n % sizes.length] ?? 0);
    yield bytes(raw.subarray(at, at + size));
    at += size;
  }
}

test("tool calls are put together from their parts", async () => {
  const { model } = await openScriptedModel([
    [say("Let me see. "), call("clock", { zone: "CET" }, "c1"), call("search", { words: "mug" }, "c2")],
  ]);
  expect(await startTurn(model).turn).toMatchObject({
    text: "Let me see. ",
    calls: [
      { callId: "c1", name: "clock", arguments: '{"zone":"CET"}' },
      { callId: "c2", name: "search", arguments: '{"words":"mug"}' },
    ],
  });
});

test("tool calls that are interleaved by index are put together", async () => {
  const part = (index: number, fields: object, args: string) =>
    chunk({ tool_calls: [{ index, ...fields, function: { ...fields, arguments: args } }] });
  const { model } = await openScriptedModel([
    [
      part(0, { id: "a", name: "one" }, '{"x":'),
      part(1, { id: "b", name: "two" }, "{"),
      part(0, {}, "1}"),
      part(1, { id: "", name: null }, "}"),
      chunk({}, "tool_calls"),
    ],
  ]);
  expect((await startTurn(model).turn).calls).toEqual([
    { callId: "a", name: "one", arguments: '{"x":1}' },
    { callId: "b", name: "two", arguments: "{}" },
  ]);
});

test("tool calls that are sent whole, without an index or all with the same one, stay apart", async () => {
  const whole = (id: string, fields: object) =>
    chunk({ content: null, tool_calls: [{ id, ...fields, function: { name: id, arguments: "{}" } }] });
  const { server, model } = await openScriptedModel([
    [whole("a", {}), whole("b", {}), chunk({}, "stop")],
    [whole("a", { index: 0 }), whole("b", { index: 0 }), chunk({}, "tool_calls")],
  ]);
  for (const _ of [1, 2]) {
    expect((await startTurn(model).turn).calls.map(({ callId, name }) => [callId, name])).toEqual([
      ["a", "a"],
      ["b", "b"],
    ]);
  }
  expect(server.requests).toHaveLength(2);
});

const part = (fields: object, name: string | null, args: unknown) => ({
  ...fields,
  type: "function",
  function: { ...(name === null ? {} : { name }), arguments: args },
});

test.each<[string, Act[]]>([
  [
    "in one chunk, numbered alike",
    [
      chunk({
        tool_calls: [part({ index: 0, id: "" }, "find", '{"n":1}'), part({ index: 0 }, "find", '{"n":2}')],
      }),
    ],
  ],
  [
    "in chunks of their own, numbered alike",
    [
      chunk({ tool_calls: [part({ index: 0, id: "" }, "find", '{"n":1}')] }),
      chunk({ tool_calls: [part({ index: 0, id: "" }, "find", '{"n":2}')] }),
    ],
  ],
  [
    "without numbers, as objects",
    [chunk({ tool_calls: [part({}, "find", { n: 1 }), part({}, "find", { n: 2 })] })],
  ],
  [
    "in parts, the second after the first",
    [
      chunk({ tool_calls: [part({}, "find", '{"n"')] }),
      chunk({ tool_calls: [part({}, null, ":1}")] }),
      chunk({ tool_calls: [part({}, "find", '{"n"')] }),
      chunk({ tool_calls: [part({}, null, ":2}")] }),
    ],
  ],
  [
    "in parts that repeat the name",
    [
      chunk({ tool_calls: [part({}, "find", '{"n"')] }),
      chunk({ tool_calls: [part({}, "find", ":1}")] }),
      chunk({ tool_calls: [part({}, "find", "")] }),
      chunk({ tool_calls: [part({}, "find", '{"n":2}')] }),
    ],
  ],
])("tool calls without ids stay apart: %s", async (_how, parts) => {
  const { model } = await openScriptedModel([[...parts, chunk({}, "tool_calls"), done]]);
  const { calls } = await startTurn(model).turn;
  expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
    ["find", '{"n":1}'],
    ["find", '{"n":2}'],
  ]);
  expect(new Set(calls.map(({ callId }) => callId)).size).toBe(2);
});

test("a call without arguments is another than the next one without an id", async () => {
  const { model } = await openScriptedModel([
    [
      chunk({ tool_calls: [part({ index: 0 }, "clock", "")] }),
      chunk({ tool_calls: [part({ index: 0 }, "find", '{"n":1}')] }),
      chunk({}, "tool_calls"),
    ],
  ]);
  const { calls } = await startTurn(model).turn;
  expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
    ["clock", ""],
    ["find", '{"n":1}'],
  ]);
});

test("of tool calls with the same id the first keeps it", async () => {
  const { model } = await openScriptedModel([
    [
      chunk({
        tool_calls: [part({ index: 0, id: "0" }, "find", '{"n"'), part({ index: 1, id: "0" }, "find", "")],
      }),
      chunk({ tool_calls: [part({ index: 0, id: "0" }, null, ":1}")] }),
      chunk({ tool_calls: [part({ index: 1, id: "0" }, null, '{"n":2}')] }),
      chunk({}, "tool_calls"),
    ],
  ]);
  const { calls } = await startTurn(model).turn;
  expect(calls).toEqual([
    { callId: "0", name: "find", arguments: '{"n":1}' },
    { callId: expect.stringMatching(/^call_.{22}$/) as string, name: "find", arguments: '{"n":2}' },
  ]);
});

test("a tool call without an id gets one of its own", async () => {
  const turn = [chunk({ tool_calls: [{ function: { name: "clock", arguments: "{}" } }] }), chunk({}, "stop")];
  const { model } = await openScriptedModel([turn, turn]);
  const ids = [await startTurn(model).turn, await startTurn(model).turn].map(({ calls }) => calls[0]?.callId);
  expect(new Set(ids).size).toBe(2);
  expect(ids[0]).toMatch(/^call_.{22}$/);
});

test("a refusal is text, and what other servers add is no text", async () => {
  const { model } = await openScriptedModel([
    [
      bytes(": OPENROUTER PROCESSING\n\n"),
      bytes('data: {"choices":[],"prompt_filter_results":[{}]}\n\n'),
      bytes('data: {"choices":[{"index":1,"delta":{"content":"other choice"}}]}\n\n'),
      chunk({ content: null, reasoning_content: "hm" }),
      chunk({ refusal: "I will not" }, "content_filter"),
      noUsage(),
    ],
  ]);
  expect(await startTurn(model).turn).toEqual({
    text: "I will not",
    calls: [],
    usage: null,
    by: "openai/scripted",
    finishReason: "content_filter",
    extra: { reasoning_content: "hm" },
  });
});

test("usage that makes no sense is no usage", async () => {
  const told = (fields: object) => bytes(`data: ${JSON.stringify({ choices: [], usage: fields })}\n\n`);
  const { model } = await openScriptedModel([
    [say("a"), told({ prompt_tokens: -1, completion_tokens: "many" }), noUsage()],
  ]);
  expect((await startTurn(model).turn).usage).toBeNull();
});

test("an empty reply is a turn without text", async () => {
  const { model } = await openScriptedModel([[chunk({}, "stop"), done]]);
  const { turn, written } = startTurn(model);
  expect(await turn).toMatchObject({ text: "", calls: [] });
  expect(written).toEqual([]);
});

test("an answer with a finish_reason is whole, also when the connection ends or breaks right after", async () => {
  const { server, model } = await openScriptedModel([
    [chunk({ content: "all" }, "stop"), cut()],
    [chunk({ content: "all" }, "length"), hold(), reset()],
  ]);
  expect((await startTurn(model).turn).text).toBe("all");
  const { turn, written } = startTurn(model);
  await expect.poll(() => written).toEqual(["all"]);
  server.release();
  expect((await turn).text).toBe("all");
});

test("a whole answer is read after empty lines, wherever it is cut", async () => {
  const answer = { choices: [{ index: 0, message: { content: "all" }, finish_reason: "stop" }] };
  const whole = Buffer.from(`\n\r\n ${JSON.stringify(answer, null, 2)}\n`);
  const { model } = await openScriptedModel([
    [...cutUp(whole, [0]), cut()],
    [bytes(whole), cut()],
  ]);
  for (const _ of [1, 2]) expect(await startTurn(model).turn).toMatchObject({ text: "all", isWhole: true });
});

test("events without content are none", async () => {
  const { model } = await openScriptedModel([
    [bytes("data:\n\n"), chunk({ content: "all" }, "stop"), bytes("data: \n\n"), done],
  ]);
  expect((await startTurn(model).turn).text).toBe("all");
});

test("an answer is over at [DONE], also when its body never ends", async () => {
  const { model } = await openScriptedModel([[say("all"), done, hang()]]);
  expect((await startTurn(model).turn).text).toBe("all");
});

test("an answer is over when its usage is told behind its end, also where neither [DONE] nor the body's end comes", async () => {
  const told = bytes('data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n');
  const { model } = await openScriptedModel([[told, say("all"), chunk({}, "stop"), told, hang()]], {
    silenceMs: 600_000,
  });
  expect(await startTurn(model).turn).toMatchObject({ text: "all", usage: { input: 3, output: 2 } });
});

test("of a model whose template opens the thought, only what follows it is the reply", async () => {
  const server = await startModelServer([
    [
      chunk({ content: "Hm.</th" }),
      chunk({ content: "ink>\n\nHel" }),
      chunk({ content: "lo" }, "stop"),
      done,
    ],
    [chunk({ content: "Hm, so lo" }, "length"), done],
    [chunk({ content: "Hm." }), call("clock")],
    [chunk({ content: "No thought." }, "stop"), done],
  ]);
  const model = openOpenAi({
    apiKey: null,
    baseUrl: server.baseUrl,
    silenceMs: 30_000,
    quirks: { thinking: "open" },
  });
  onTestFinished(async () => {
    await model.close();
    await server.close();
  });
  const texts = [];
  for (let nth = 0; nth < 4; nth += 1) texts.push((await startTurn(model).turn).text);
  expect(texts).toEqual(["Hello", "", "", "No thought."]);
});
