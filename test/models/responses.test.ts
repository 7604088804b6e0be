// For src/models/responses/, src/models/way.ts, src/models/openai.ts
import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelMessage, ModelRequest, ModelTurn } from "../../src/model.ts";
import { WITHHELD } from "../../src/model.ts";
import { defaultWay, openOpenAi, openProvider } from "../../src/models/openai.ts";
import { noPause, plainRequest, startTurn } from "../support/servers/open-model.ts";
import { openHttpServer } from "../support/servers/http-server.ts";

/**
 * A server of the Responses API by its published events:
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
type Answer = { events: object[] } | { status: number; error: object } | { whole: object };

interface Played {
  baseUrl: string;
  /** Bodies of the requests so far. */
  asked: Record<string, unknown>[];
  paths: string[];
}

async function serve(...answers: Answer[]): Promise<Played> {
  const asked: Record<string, unknown>[] = [];
  const paths: string[] = [];
  const origin = await openHttpServer((incoming, outgoing) => {
    let text = "";
    incoming.on("data", (data) => (text += String(data)));
    incoming.on("end", () => {
      asked.push(JSON.parse(text) as Record<string, unknown>);
      paths.push(incoming.url ?? "");
      const answer = answers[asked.length - 1] ?? answers.at(-1);
      if (answer === undefined || "status" in answer) {
        outgoing.writeHead(answer?.status ?? 500, { "content-type": "application/json" });
        outgoing.end(JSON.stringify({ error: answer?.error ?? {} }));
      } else if ("whole" in answer) {
        outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer.whole));
      } else {
        outgoing.writeHead(200, { "content-type": "text/event-stream" });
        for (const [nth, event] of answer.events.entries()) {
          const { type } = event as { type: string };
          outgoing.write(`event: ${type}\ndata: ${JSON.stringify({ ...event, sequence_number: nth })}\n\n`);
        }
        outgoing.end();
      }
    });
  });
  return { baseUrl: `${origin}/v1`, asked, paths };
}

function modelAt({ baseUrl }: Played) {
  const model = openOpenAi({ apiKey: "k", api: "responses", baseUrl, silenceMs: 30_000, pause: noPause });
  onTestFinished(() => model.close());
  return model;
}

const usage = { input_tokens: 12, output_tokens: 5, output_tokens_details: { reasoning_tokens: 3 } };
const thought = (id: string) => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content: `sealed ${id}`,
  status: "completed",
});
const message = (id: string, text: string) => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const called = (nth: number, name: string, args: string) => ({
  type: "function_call",
  id: `fc_${nth}`,
  call_id: `call_${nth}`,
  name,
  arguments: args,
  status: "completed",
});

/** The events of a response with these items, texts and arguments in pieces. */
function streamed(output: object[], end: object = { type: "response.completed" }): Answer {
  const events: object[] = [{ type: "response.created", response: { id: "resp_1", status: "in_progress" } }];
  for (const [index, item] of output.entries()) {
    const { type } = item as { type: string };
    events.push({
      type: "response.output_item.added",
      output_index: index,
      item: { ...item, status: "in_progress" },
    });
    if (type === "message") {
      const text = (item as ReturnType<typeof message>).content[0]?.text ?? "";
      for (const delta of text.match(/.{1,4}/gs) ?? [])
        events.push({ type: "response.output_text.delta", output_index: index, content_index: 0, delta });
      events.push({ type: "response.output_text.done", output_index: index, content_index: 0, text });
    }
    if (type === "function_call") {
      const { arguments: args } = item as ReturnType<typeof called>;
      for (const delta of args.match(/.{1,4}/gs) ?? [])
        events.push({ type: "response.function_call_arguments.delta", output_index: index, delta });
      events.push({ type: "response.function_call_arguments.done", output_index: index, arguments: args });
    }
    events.push({ type: "response.output_item.done", output_index: index, item });
  }
  const status = (end as { type: string }).type.replace("response.", "");
  return { events: [...events, { response: { status, usage, output }, ...end }] };
}

const tools = [
  { name: "stock", description: "Tells the stock", parameters: { type: "object", properties: { of: {} } } },
];

async function turnOf(
  played: Played,
  request: Partial<ModelRequest> = {},
): Promise<ModelTurn & { written: string }> {
  const { turn, written } = startTurn(modelAt(played), { request });
  return { ...(await turn), written: written.join("") };
}

/** A turn as the conversation has it afterwards. */
function said({ text: content, calls, by, extra }: ModelTurn): ModelMessage {
  return { role: "assistant", content, calls, by, ...(extra ? { extra } : {}) };
}

test("a reply is asked for by /responses, kept nowhere, and read to its end with its usage", async () => {
  const played = await serve(streamed([message("msg_1", "Good morning.")]));
  const turn = await turnOf(played, {
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    maxOutputTokens: 100,
    body: { temperature: 0.5, reasoning_effort: "low" },
  });
  expect(turn).toMatchObject({
    text: "Good morning.",
    written: "Good morning.",
    calls: [],
    usage: { input: 12, output: 5 },
    finishReason: "stop",
    by: "openai/scripted",
  });
  expect(turn.extra).toBeUndefined();
  expect(played.paths).toEqual(["/v1/responses"]);
  expect(played.asked).toEqual([
    {
      model: "scripted",
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      temperature: 0.5,
      reasoning: { effort: "low" },
      max_output_tokens: 100,
      input: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
    },
  ]);
});

test("thoughts go back encrypted with their calls and their text, in their order, and to this model alone", async () => {
  const output = [
    thought("rs_1"),
    message("msg_1", "Let me look."),
    thought("rs_2"),
    called(1, "stock", '{"of":"kettle"}'),
    called(2, "stock", '{"of":"mug"}'),
  ];
  const played = await serve(streamed(output), streamed([thought("rs_3"), message("msg_2", "Three.")]));
  const question = { role: "user" as const, content: "How many?" };
  const first = await turnOf(played, { messages: [question], tools });
  expect(first.text).toBe("Let me look.");
  expect(first.finishReason).toBe("tool_calls");
  expect(first.calls).toEqual([
    { callId: "call_1", name: "stock", arguments: '{"of":"kettle"}' },
    { callId: "call_2", name: "stock", arguments: '{"of":"mug"}' },
  ]);

  const results: ModelMessage[] = [
    { role: "tool", callId: "call_1", content: "3" },
    { role: "tool", callId: "call_2", content: "0" },
  ];
  const second = await turnOf(played, { messages: [question, said(first), ...results], tools });
  expect(second.text).toBe("Three.");
  const { status: _, ...rs1 } = thought("rs_1");
  const { status: __, ...rs2 } = thought("rs_2");
  const back = (nth: number, args: string) => ({
    type: "function_call",
    id: `fc_${nth}`,
    call_id: `call_${nth}`,
    name: "stock",
    arguments: args,
  });
  expect(played.asked[1]?.["input"]).toEqual([
    { role: "user", content: "How many?" },
    rs1,
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      content: [{ type: "output_text", text: "Let me look.", annotations: [] }],
    },
    rs2,
    back(1, '{"of":"kettle"}'),
    back(2, '{"of":"mug"}'),
    { type: "function_call_output", call_id: "call_1", output: "3" },
    { type: "function_call_output", call_id: "call_2", output: "0" },
  ]);
  expect(played.asked[1]?.["tools"]).toEqual([{ type: "function", ...tools[0], strict: false }]);

  // As the history has it in a later run: the calls without the text, which is one with the last turn's.
  const later = await serve(streamed([message("msg_3", "Yes.")]));
  const past = [
    question,
    { ...said(first), content: "" },
    ...results,
    said(second),
    { role: "user" as const, content: "Sure?" },
  ];
  await turnOf(later, { messages: past, tools });
  const types = ((later.asked[0]?.["input"] ?? []) as Record<string, unknown>[]).map(
    ({ type, role }) => type ?? role,
  );
  expect(types).toEqual([
    "user",
    "reasoning",
    "reasoning",
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "reasoning",
    "message",
    "user",
  ]);

  // Another model is told of the calls in words, and sees no thought.
  const other = await serve(streamed([message("msg_4", "Hm.")]));
  await turnOf(other, {
    messages: past.map((each) => ("by" in each ? { ...each, by: "openai/other" } : each)),
    tools,
  });
  expect(JSON.stringify(other.asked[0])).not.toContain("sealed");
  expect(JSON.stringify(other.asked[0])).toContain("earlier_calls");
});

test("a model that was asked by responses before, and is asked by chat completions now, gets none of its items", async () => {
  const played = await serve(streamed([thought("rs_1"), message("msg_1", "Hi.")]));
  const first = await turnOf(played);
  expect(first.extra).toBeDefined();
  const chat = await serve({
    whole: { choices: [{ message: { content: "Hi again." }, finish_reason: "stop" }] },
  });
  const model = openOpenAi({ apiKey: "k", baseUrl: chat.baseUrl, silenceMs: 30_000, pause: noPause });
  onTestFinished(() => model.close());
  const { turn } = startTurn(model, {
    request: { messages: [...plainRequest.messages, said(first), { role: "user", content: "Again" }] },
  });
  expect((await turn).text).toBe("Hi again.");
  expect(chat.paths).toEqual(["/v1/chat/completions"]);
  expect(JSON.stringify(chat.asked)).not.toContain("response_items");
});

test("a thought that nothing followed is left out, since the API refuses it", async () => {
  const played = await serve(streamed([message("msg_1", "Yes.")]));
  const extra = { response_items: [{ type: "reasoning", id: "rs_1", encrypted_content: "x" }] };
  await turnOf(played, {
    messages: [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "", calls: [], by: "openai/scripted", extra },
      { role: "user", content: "Are you there?" },
    ],
  });
  expect(JSON.stringify(played.asked)).not.toContain("rs_1");
});

test("images are sent as parts of the input", async () => {
  const played = await serve(streamed([message("msg_1", "Purple.")]));
  const url = "data:image/png;base64,AAAA";
  await turnOf(played, {
    messages: [{ role: "user", content: "Which?", images: [{ label: "a.png", url }] }],
  });
  expect(played.asked[0]?.["input"]).toEqual([
    {
      role: "user",
      content: [
        { type: "input_text", text: "Which?" },
        { type: "input_image", image_url: url, detail: "auto" },
      ],
    },
  ]);
});

describe("an end", () => {
  test.each([
    ["too long", "max_output_tokens", "length"],
    ["filtered", "content_filter", "content_filter"],
  ])("%s is told by its reason", async (_what, reason, finishReason) => {
    const end = {
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason }, usage },
    };
    const played = await serve(streamed([message("msg_1", "Half an ans")], end));
    expect(await turnOf(played)).toMatchObject({ text: "Half an ans", finishReason });
  });

  test("by a refusal is the refusal's words", async () => {
    const played = await serve({
      events: [
        { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "I cannot " },
        { type: "response.refusal.delta", output_index: 0, content_index: 0, delta: "help with that." },
        { type: "response.completed", response: { status: "completed", usage } },
      ],
    });
    expect((await turnOf(played)).text).toBe("I cannot help with that.");
  });

  test("that never comes is a broken answer, and is asked for again", async () => {
    const { events } = streamed([message("msg_1", "Hi.")]) as { events: object[] };
    const cut = { events: events.slice(0, 2) };
    const played = await serve(cut, cut, streamed([message("msg_1", "Hi.")]));
    expect((await turnOf(played)).text).toBe("Hi.");
    expect(played.asked).toHaveLength(3);
  });

  test("of an answer that is not streamed is its whole text, its calls and its thoughts", async () => {
    const output = [thought("rs_1"), message("msg_1", "Look: "), called(1, "stock", "{}")];
    const played = await serve({ whole: { object: "response", status: "completed", output, usage } });
    const turn = await turnOf(played, { tools });
    expect(turn).toMatchObject({ text: "Look: ", usage: { input: 12, output: 5 }, isWhole: true });
    expect(turn.calls).toMatchObject([{ callId: "call_1", name: "stock", arguments: "{}" }]);
    expect(turn.extra).toBeDefined();
  });
});

describe("a failure", () => {
  test.each([
    [
      "in the stream",
      { events: [{ type: "error", code: "server_error", message: "Try later", param: null }] },
    ],
    [
      "of the response",
      {
        events: [
          {
            type: "response.failed",
            response: { status: "failed", error: { code: "server_error", message: "x" } },
          },
        ],
      },
    ],
    ["by its status", { status: 503, error: { message: "busy" } }],
  ])("%s is tried again, and ends in one sentence", async (_what, answer) => {
    const played = await serve(answer);
    await expect(turnOf(played)).rejects.toThrow(/^The model answered with an error/);
    expect(played.asked).toHaveLength(3);
  });

  test("by a content filter's code withholds the message, at once", async () => {
    const played = await serve({ status: 400, error: { code: "content_filter", message: "no" } });
    await expect(turnOf(played)).rejects.toThrow(WITHHELD);
    expect(played.asked).toHaveLength(1);
  });

  test.each([
    ["include", "include", (body: Record<string, unknown>) => !("include" in body)],
    ["temperature", "temperature", (body: Record<string, unknown>) => !("temperature" in body)],
    ["reasoning.effort", "reasoning", (body: Record<string, unknown>) => !("reasoning" in body)],
  ])("that names %s in a code is learned for an hour, and told", async (param, _field, isGone) => {
    const played = await serve(
      {
        status: 400,
        error: { code: "unsupported_parameter", type: "invalid_request_error", param, message: "no" },
      },
      streamed([message("msg_1", "Hi.")]),
    );
    const told: object[] = [];
    const provider = openProvider({
      apiKey: "k",
      api: "responses",
      baseUrl: played.baseUrl,
      silenceMs: 30_000,
      pause: noPause,
      log: { warn: (fields) => void told.push(fields) },
    });
    onTestFinished(() => provider.close());
    const body = { temperature: 0.5, reasoning_effort: "low" };
    const ask = () =>
      provider.stream("m", {
        request: { ...plainRequest, body },
        wrote: () => {},
        signal: new AbortController().signal,
      });
    expect((await ask()).text).toBe("Hi.");
    expect((await ask()).text).toBe("Hi.");
    expect(played.asked.map(isGone)).toEqual([false, true, true]);
    expect(told).toHaveLength(1);
    expect(provider.notes()).toHaveLength(1);
  });

  test("that names a tool's schema leaves the tool out", async () => {
    const odd = { name: "odd", description: "", parameters: { type: "object", properties: {}, oneOf: [] } };
    const played = await serve(
      {
        status: 400,
        error: { code: "invalid_function_parameters", param: "tools[1].parameters", message: "no" },
      },
      streamed([message("msg_1", "Hi.")]),
    );
    const turn = await turnOf(played, { tools: [...tools, odd] });
    expect(turn.leftOutTools).toEqual(["odd"]);
    expect(played.asked.map((body) => (body["tools"] as object[]).length)).toEqual([2, 1]);
  });
});

test("OpenAI's own servers are asked by responses, all others by chat completions", () => {
  expect(
    [null, "https://api.openai.com/v1", "https://eu.api.openai.com/v1"].map((url) => defaultWay(url)),
  ).toEqual(["responses", "responses", "responses"]);
  expect(
    [
      "http://127.0.0.1:11434/v1",
      "https://api.openai.com.example/v1",
      "https://x.openai.azure.com/openai",
    ].map((url) => defaultWay(url)),
  ).toEqual(["chat", "chat", "chat"]);
});
