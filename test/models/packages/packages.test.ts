// For src/models/packages/, src/models/refusals/stream-learning.ts
import { describe, expect, onTestFinished, test } from "vitest";
import type { ModelMessage, ModelRequest, ModelTurn } from "../../../src/model.ts";
import { ModelFault } from "../../../src/model.ts";
import { systemClock } from "../../../src/clock.ts";
import { openProvider } from "../../../src/models/openai.ts";
import { openProviders } from "../../../src/models/providers.ts";
import { KeyRefused, PassingFault } from "../../../src/models/faults.ts";
import { openPackage } from "../../../src/models/packages/open-package.ts";
import { noPause, plainRequest } from "../../support/servers/open-model.ts";
import { openHttpServer } from "../../support/servers/http-server.ts";
import { WIRES } from "./wires.ts";
import type { PlayedTurn, Wire } from "./wires.ts";

/** One answer: a turn, the status of a refusal, the beginning of a turn behind which the connection breaks, or silence. */
type Answer =
  | PlayedTurn
  | { status: number; body: object }
  | { cutAfter: number; turn: PlayedTurn }
  | "silence";

interface Played {
  url: string;
  paths: string[];
  /** Bodies of the requests so far. */
  asked: Record<string, unknown>[];
}

async function serve(wire: Wire, ...answers: Answer[]): Promise<Played> {
  const paths: string[] = [];
  const asked: Record<string, unknown>[] = [];
  const origin = await openHttpServer((incoming, outgoing) => {
    let text = "";
    incoming.on("data", (data) => (text += String(data)));
    incoming.on("end", () => {
      paths.push(incoming.url ?? "");
      asked.push(JSON.parse(text) as Record<string, unknown>);
      const answer = answers[asked.length - 1] ?? answers.at(-1);
      if (answer === undefined || answer === "silence") return;
      if ("status" in answer) {
        outgoing.writeHead(answer.status, { "content-type": "application/json" });
        outgoing.end(JSON.stringify(answer.body));
        return;
      }
      outgoing.writeHead(200, { "content-type": wire.contentType });
      if ("cutAfter" in answer) {
        for (const frame of wire.frames(answer.turn).slice(0, answer.cutAfter)) outgoing.write(frame);
        setImmediate(() => outgoing.destroy());
      } else {
        for (const frame of wire.frames(answer)) outgoing.write(frame);
        outgoing.end();
      }
    });
  });
  return { url: origin, paths, asked };
}

async function providerAt(
  wire: Wire,
  { url }: Played,
  more: { silenceMs?: number; log?: { warn(fields: object): void } } = {},
) {
  const provider = await openPackage({
    name: "p",
    package: wire.package,
    settings: wire.settings(url),
    silenceMs: 30_000,
    pause: noPause,
    ...more,
  });
  onTestFinished(() => provider.close());
  return provider;
}

async function turnOf(
  provider: Awaited<ReturnType<typeof openPackage>>,
  request: Partial<ModelRequest> = {},
  signal = new AbortController().signal,
): Promise<ModelTurn & { written: string }> {
  let written = "";
  const wrote = (text: string) => void (written += text);
  const turn = await provider.stream("m", {
    request: { ...plainRequest, model: "m", ...request },
    wrote,
    signal,
  });
  return { ...turn, written };
}

const said = ({ text: content, calls, by, extra }: ModelTurn): ModelMessage => ({
  role: "assistant",
  content,
  calls,
  by,
  ...(extra ? { extra } : {}),
});

const tools = [
  {
    name: "stock",
    description: "Tells the stock",
    parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
  },
];
const usage = { input: 12, output: 5 };
const calls = [
  { id: "call_1", name: "stock", arguments: { of: "kettle" } },
  { id: "call_2", name: "stock", arguments: { of: "mug" } },
];

describe.each(WIRES)("$package", (wire) => {
  test("streams a reply, with its usage", async () => {
    const played = await serve(wire, { text: "Good morning, 🌞!", usage });
    const provider = await providerAt(wire, played);
    expect(provider.way).toBe(wire.package);
    const messages: ModelMessage[] = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ];
    const turn = await turnOf(provider, { messages, maxOutputTokens: 100, body: { temperature: 0.5 } });
    expect(turn).toMatchObject({
      text: "Good morning, 🌞!",
      written: "Good morning, 🌞!",
      calls: [],
      usage,
      finishReason: "stop",
      by: "p/m",
    });
    expect(played.paths).toEqual([expect.stringMatching(wire.path)]);
    expect(JSON.stringify(played.asked[0])).toMatch(/Be brief\..*|Hello/s);
    expect(JSON.stringify(played.asked[0])).toContain("0.5");
  });

  test("calls tools side by side, is given their results, and gets its thoughts back with them", async () => {
    const thought = { text: "Two things to look up.", signature: "c2lnbmVk" };
    const played = await serve(
      wire,
      { thought, text: "One moment.", calls, usage },
      { text: "Three and none.", usage },
      { text: "Sure.", usage },
    );
    const provider = await providerAt(wire, played);
    const question = { role: "user" as const, content: "How many?" };
    const first = await turnOf(provider, { messages: [question], tools });
    expect(first).toMatchObject({ text: "One moment.", finishReason: "tool_calls" });
    expect(first.written).not.toContain("Two things");
    expect(first.calls.map(({ name, arguments: args }) => [name, JSON.parse(args)])).toEqual([
      ["stock", { of: "kettle" }],
      ["stock", { of: "mug" }],
    ]);
    expect(JSON.stringify(played.asked[0])).toContain("Tells the stock");

    const results = first.calls.map(({ callId }, nth): ModelMessage => ({
      role: "tool",
      callId,
      content: nth === 0 ? "3 left" : "none",
    }));
    const second = await turnOf(provider, { messages: [question, said(first), ...results], tools });
    expect(second.text).toBe("Three and none.");
    const again = JSON.stringify(played.asked[1]);
    expect(again).toContain("3 left");
    expect(again.includes(thought.signature)).toBe(wire.givesBack);

    // In a later run the calls stand without their text, and another model's thoughts are not sent.
    const past = [question, { ...said(first), content: "" }, ...results, said(second)];
    const later = [...past, { role: "user" as const, content: "Sure?" }];
    expect((await turnOf(provider, { messages: later, tools })).text).toBe("Sure.");
    expect(JSON.stringify(played.asked[2]).includes(thought.signature)).toBe(wire.givesBack);
    const others = later.map((each) => ("by" in each ? { ...each, by: "p/other" } : each));
    await turnOf(provider, { messages: others, tools });
    expect(JSON.stringify(played.asked[3])).not.toContain(thought.signature);
    expect(JSON.stringify(played.asked[3])).toContain("earlier_calls");
  });

  test("is sent images", async () => {
    const played = await serve(wire, { text: "Purple.", usage });
    const url = "data:image/png;base64,iVBORw0KGgo=";
    const messages = [{ role: "user" as const, content: "Which?", images: [{ label: "a.png", url }] }];
    expect((await turnOf(await providerAt(wire, played), { messages })).text).toBe("Purple.");
    expect(JSON.stringify(played.asked[0])).toContain("iVBORw0KGgo=");
  });

  test("fails with the fault that its server's status says", async () => {
    const refused = await serve(wire, {
      status: 401,
      body: { error: { message: "no", type: "authentication_error" } },
    });
    await expect(turnOf(await providerAt(wire, refused))).rejects.toThrow(KeyRefused);
    expect(refused.asked).toHaveLength(1);

    const busy = await serve(wire, { status: 503, body: { error: { message: "busy" } } });
    await expect(turnOf(await providerAt(wire, busy))).rejects.toThrow(PassingFault);
    expect(busy.asked).toHaveLength(3);

    const images = [{ label: "a.png", url: "data:image/png;base64,iVBORw0KGgo=" }];
    const blind = await serve(
      wire,
      { status: 400, body: { error: { message: "no images", type: "invalid_request_error" } } },
      { text: "I see nothing.", usage },
    );
    const messages = [{ role: "user" as const, content: "Which?", images }];
    expect((await turnOf(await providerAt(wire, blind), { messages })).text).toBe("I see nothing.");
    expect(JSON.stringify(blind.asked[1])).not.toContain("iVBORw0KGgo=");
  });

  test("an answer that breaks off is asked for again before its first text, and not after", async () => {
    const turn = { text: "Good morning to you.", usage };
    const early = await serve(wire, { cutAfter: 0, turn }, turn);
    expect((await turnOf(await providerAt(wire, early))).text).toBe(turn.text);
    const late = await serve(wire, { cutAfter: 4, turn }, turn);
    await expect(turnOf(await providerAt(wire, late))).rejects.toThrow(ModelFault);
    expect(late.asked).toHaveLength(1);
  });

  test("a server that says nothing is left after the time for silence, and a turn that is stopped at once", async () => {
    const played = await serve(wire, "silence");
    await expect(turnOf(await providerAt(wire, played, { silenceMs: 50 }))).rejects.toThrow(
      "The model fell silent",
    );
    const stop = new AbortController();
    const stopped = turnOf(await providerAt(wire, played), {}, stop.signal);
    stop.abort("visitor left");
    await expect(stopped).rejects.toBe("visitor left");
  });
});

test("a chain asks all three ways, one after the other", async () => {
  const [wire] = WIRES;
  if (!wire) throw new Error("There is no wire");
  const failing = await serve(wire, { status: 500, body: {} });
  const answering = await serve(wire, { text: "Here I am.", usage });
  const at = (name: string, api: "chat" | "responses") =>
    openProvider({ name, apiKey: "k", api, baseUrl: `${failing.url}/v1`, silenceMs: 30_000, pause: noPause });
  const members = ["chat/m", "responses/m", "p/m"].map((name) => {
    const [provider = "", model = ""] = name.split("/");
    return { provider, model };
  });
  const model = openProviders({
    kind: "openai",
    providers: [at("chat", "chat"), at("responses", "responses"), await providerAt(wire, answering)],
    names: { membersOf: () => members, defaultModel: "default", members },
    clock: systemClock,
    log: { warn() {}, info() {} },
    onCall: () => {},
  });
  onTestFinished(() => model.close());
  const turn = await model.stream(plainRequest, () => {}, new AbortController().signal);
  expect(turn).toMatchObject({ text: "Here I am.", by: "p/m" });
  expect(failing.paths).toEqual(["/v1/chat/completions", "/v1/responses"]);
  expect(model.ways).toEqual({
    "chat/m": "chat",
    "responses/m": "responses",
    "p/m": "@ai-sdk/anthropic",
  });
});

test("options of the provider, settings and what it does not apply", async () => {
  const wire = WIRES.find((each) => each.package === "@ai-sdk/mistral");
  if (!wire) throw new Error("There is no wire");
  const played = await serve(wire, { text: "Hi.", usage });
  const told: unknown[] = [];
  const provider = await providerAt(wire, played, { log: { warn: (fields) => void told.push(fields) } });
  const body = { top_p: 0.4, top_k: 7, mistral: { safePrompt: true }, parallelToolCalls: false };
  const ask = () => turnOf(provider, { body, tools });
  await ask();
  await ask();
  expect(played.asked[0]).toMatchObject({ top_p: 0.4, safe_prompt: true, parallel_tool_calls: false });
  expect(told).toEqual([{ model: "p/m", warning: "unsupported topK" }]);
});

test("a server that is not there is a fault that may pass", async () => {
  const [wire] = WIRES;
  if (!wire) throw new Error("There is no wire");
  const provider = await providerAt(wire, { url: "http://127.0.0.1:1", paths: [], asked: [] });
  await expect(turnOf(provider)).rejects.toThrow("The model cannot be reached");
});

test.each<[what: string, options: Parameters<typeof openPackage>[0], line: RegExp]>([
  [
    "a package that is not installed",
    { name: "p", package: "@ai-sdk/nobody", settings: {}, silenceMs: 1 },
    /^needs the package @ai-sdk\/nobody: npm install @ai-sdk\/nobody$/,
  ],
  [
    "a package of another kind",
    { name: "p", package: "pino", settings: {}, silenceMs: 1 },
    /^finds in the package pino no create… of a language model provider of the AI SDK.*: npm install pino@latest$/,
  ],
  [
    "a name that it does not export",
    { name: "p", package: "@ai-sdk/anthropic", create: "createClaude", settings: {}, silenceMs: 1 },
    /no provider as createClaude/,
  ],
])("%s ends with what to type", async (_what, options, line) => {
  await expect(openPackage(options)).rejects.toThrow(line);
});
