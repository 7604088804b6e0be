// For src/models/faults.ts, src/models/exchange/error-reader.ts
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { ModelFault, TURN_TEXT_CHARS } from "../../src/model.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import {
  bytes,
  cut,
  endlessly,
  hang,
  hold,
  reset,
  say,
  status,
  unreachableBaseUrl,
} from "../support/servers/model-server.ts";
import type { ScriptedTurn } from "../support/servers/model-server.ts";
import {
  CANARY_KEY,
  noPause,
  openScriptedModel,
  plainRequest,
  startTurn,
} from "../support/servers/open-model.ts";

/** A fault's whole message. */
const fault = (message: string) => expect.objectContaining({ name: "ModelFault", message });

test("P28: a refused connection is tried three times, then it is a fault", async () => {
  const model = openOpenAi({
    apiKey: CANARY_KEY,
    baseUrl: await unreachableBaseUrl(),
    silenceMs: 30_000,
    pause: noPause,
  });
  await expect(startTurn(model).turn).rejects.toEqual(fault("The model cannot be reached"));
  await model.close();
});

test("P28: 401 and other faults of ours are not retried", async () => {
  const { server, model } = await openScriptedModel(
    [status(401), status(400), status(404)].map((act) => [act]),
  );
  for (const code of [401, 400, 404]) {
    await expect(startTurn(model).turn).rejects.toEqual(fault(`The model answered with an error (${code})`));
  }
  expect(server.requests).toHaveLength(3);
});

test("P28: 429 is retried after the time that the server asks for", async () => {
  const { server, model } = await openScriptedModel([
    [status(429, { "retry-after-ms": "20" })],
    [status(429, { "retry-after": "0" })],
  ]);
  expect((await startTurn(model).turn).text).toBe("You said: Hello");
  expect(server.requests).toHaveLength(3);
});

test("P28: a server that wants to be left alone for long is not asked again", async () => {
  const tomorrow = new Date(Date.now() + 86_400_000).toUTCString();
  const { server, model } = await openScriptedModel([
    [status(429, { "retry-after": "60" })],
    [status(503, { "retry-after": tomorrow })],
  ]);
  await expect(startTurn(model).turn).rejects.toEqual(fault("The model answered with an error (429)"));
  await expect(startTurn(model).turn).rejects.toEqual(fault("The model answered with an error (503)"));
  expect(server.requests).toHaveLength(2);
});

test.each([408, 409, 500, 529])("P28: %i once, and then an answer, is an answer", async (code) => {
  const { server, model } = await openScriptedModel([[status(code, { "retry-after-ms": "5" })]]);
  expect((await startTurn(model).turn).text).toBe("You said: Hello");
  expect(server.requests).toHaveLength(2);
});

test("P28: 500 three times is a fault, and is not tried a fourth time", async () => {
  const { server, model } = await openScriptedModel(() => [status(500)]);
  await expect(startTurn(model).turn).rejects.toEqual(fault("The model answered with an error (500)"));
  expect(server.requests).toHaveLength(3);
});

test.each<[string, ScriptedTurn, string]>([
  ["a reset before the first text", [reset()], "The model cannot be reached"],
  [
    "a stream that ends before its first text",
    [bytes(": hello\n\n"), bytes('data: {"choices":[]}\n\n'), cut()],
    "The model's answer was cut off",
  ],
  [
    "an error inside the stream",
    [bytes('data: {"error":{"message":"overloaded","code":503}}\n\n')],
    "The model answered with an error (503)",
  ],
  [
    "an error inside the stream without a status",
    [bytes('data: {"error":{"message":"x","code":"server_error"}}\n\n')],
    "The model answered with an error",
  ],
  [
    "an error that is the whole of an event, as older vLLM has it",
    [
      bytes(
        'data: {"object":"error","message":"x","type":"InternalServerError","code":500}\n\ndata: [DONE]\n\n',
      ),
    ],
    "The model answered with an error (500)",
  ],
  [
    "an end by a lack of resources, as DeepSeek has it",
    [bytes('data: {"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}\n\n')],
    "The model answered with an error",
  ],
])("P28: %s is retried, three tries in all", async (_name, turn, message) => {
  const { server, model } = await openScriptedModel(() => turn);
  await expect(startTurn(model).turn).rejects.toEqual(fault(message));
  expect(server.requests).toHaveLength(3);
});

test.each<[string, ScriptedTurn, string]>([
  ["reset", [say("Hel"), hold(), reset()], "The model's answer was cut off"],
  ["truncated", [say("Hel"), hold(), cut()], "The model's answer was cut off"],
  [
    "truncated in mid-event",
    [say("Hel"), hold(), bytes('data: {"choi'), cut()],
    "The model's answer was cut off",
  ],
  [
    "broken by an error",
    [say("Hel"), hold(), bytes('data: {"error":{"code":500}}\n\n')],
    "The model answered with an error (500)",
  ],
  [
    "broken by an event that is an error",
    [say("Hel"), hold(), bytes('data: {"object":"error","message":"x","code":400}\n\ndata: [DONE]\n\n')],
    "The model answered with an error (400)",
  ],
  [
    "broken by an error of its choice",
    [
      say("Hel"),
      hold(),
      bytes(
        'data: {"choices":[{"delta":{},"finish_reason":"error","error":{"code":502}}]}\n\ndata: [DONE]\n\n',
      ),
    ],
    "The model answered with an error (502)",
  ],
  ...["error", "network_error"].map((end): [string, ScriptedTurn, string] => [
    `that ends as ${end}`,
    [
      say("Hel"),
      hold(),
      bytes(`data: {"choices":[{"delta":{},"finish_reason":"${end}"}]}\n\ndata: [DONE]\n\n`),
    ],
    "The model answered with an error",
  ]),
])("P28: a stream %s after its first text is not retried", async (_name, script, message) => {
  const { server, model } = await openScriptedModel([script]);
  const { turn, written } = startTurn(model);
  await expect.poll(() => written).toEqual(["Hel"]);
  server.release();
  await expect(turn).rejects.toEqual(fault(message));
  expect(written).toEqual(["Hel"]);
  expect(server.requests).toHaveLength(1);
});

test.each<[string, ScriptedTurn]>([
  ["JSON that does not parse", [bytes("data: {oops}\n\n")]],
  ["events that are none", [bytes("data: null\n\ndata: hello\n\n"), cut()]],
  ["a whole answer without choices", [bytes('{"status":"ok"}'), cut()]],
  ["a web page", [bytes("<html>It works!</html>"), cut()]],
  ["bytes", [bytes(Uint8Array.from({ length: 4_096 }, (_, n) => (n * 7) % 256)), cut()]],
  ["an event without an end", Array.from({ length: 20 }, () => bytes("x".repeat(262_144)))],
])("P28: garbage is not understood, and not retried: %s", async (_name, turn) => {
  const { server, model } = await openScriptedModel([turn]);
  const begun = startTurn(model);
  await expect(begun.turn).rejects.toEqual(fault("The model's answer was not understood"));
  expect(begun.written).toEqual([]);
  expect(server.requests).toHaveLength(1);
});

test.each(["gzip", "zstd+x"])(
  "a compressed answer that cannot be decoded is not understood: %s",
  async (coding) => {
    const { model } = await openScriptedModel([
      [status(200, { "content-encoding": coding }, "no zip at all")],
    ]);
    await expect(startTurn(model).turn).rejects.toEqual(fault("The model's answer was not understood"));
  },
);

test.each(["identity", "none", ""])("an answer of the encoding %j is not compressed", async (encoding) => {
  const body = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n';
  const { model } = await openScriptedModel([[status(200, { "content-encoding": encoding }, body)]]);
  expect((await startTurn(model).turn).text).toBe("Hi");
});

test("P28: an answer that is not understood is not read on", async () => {
  const { server, model } = await openScriptedModel([[bytes("data: {oops}\n\n"), hang()]], {
    silenceMs: 600_000,
  });
  await expect(startTurn(model).turn).rejects.toThrow(ModelFault);
  await server.requests[0]?.left;
});

test("P28: endless deltas go on until the caller has enough", async () => {
  const { server, model } = await openScriptedModel([endlessly("more ")]);
  const enough = new AbortController();
  let chars = 0;
  const count = (text: string) => {
    chars += text.length;
    if (chars > 2_000) enough.abort("enough");
  };
  await expect(model.stream(plainRequest, count, enough.signal)).rejects.toBe("enough");
  await server.requests[0]?.left;
});

test("P17: while `wrote` waits nothing more is read, the far end stops, and that is no silence", async () => {
  const blocks = 400;
  const block = "x".repeat(65_536);
  let given = 0;
  function* script() {
    for (; given < blocks; given++) yield say(block);
  }
  const silenceMs = 500;
  const { model } = await openScriptedModel(() => script(), { silenceMs });
  let chars = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const takeSome = (text: string) => {
    chars += text.length;
    return chars < block.length ? undefined : opened;
  };
  const turn = model.stream(plainRequest, takeSome, new AbortController().signal);
  await pause(3 * silenceMs);
  // What the connection holds, and no more.
  expect(given).toBeLessThan(blocks / 2);
  expect(chars).toBeLessThan(5 * block.length);
  open();
  const { text } = await turn;
  expect(chars).toBe(blocks * block.length);
  expect(text).toBe("x".repeat(TURN_TEXT_CHARS));
});

test("what `wrote` throws ends the turn, and the request", async () => {
  const { server, model } = await openScriptedModel([[say("a"), hang()]], { silenceMs: 600_000 });
  const wrote = () => {
    throw new Error("no room");
  };
  await expect(model.stream(plainRequest, wrote, new AbortController().signal)).rejects.toThrow("no room");
  await server.requests[0]?.left;
  expect(server.requests).toHaveLength(1);
});

test("P15: no fault tells the key, an address, or what the server wrote", async () => {
  const leak = `${CANARY_KEY} at 10.0.0.1 said Bearer ${CANARY_KEY}`;
  const turns: ScriptedTurn[] = [
    [status(401, {}, JSON.stringify({ error: { message: leak } }))],
    [status(400, { "x-leak": CANARY_KEY }, leak)],
    [bytes(`data: {"error":{"message":${JSON.stringify(leak)},"code":400}}\n\n`)],
    [bytes(`data: {${leak}}\n\n`)],
    [say("a"), hold(), reset()],
  ];
  const { server, model } = await openScriptedModel(turns);
  server.release(9);
  for (const _ of turns) {
    const error: unknown = await startTurn(model).turn.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ModelFault);
    expect(String(error)).toMatch(
      /^ModelFault: The model(('s answer was (cut off|not understood))| answered with an error \(\d+\))$/,
    );
  }
});

test("P28: a model that says nothing for long enough has fallen silent, and is not asked again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { server, model } = await openScriptedModel([[hang()]], { silenceMs: 60_000 });
    const { turn } = startTurn(model);
    await server.requested(1);
    vi.advanceTimersByTime(59_999);
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBeGreaterThan(0);
    vi.advanceTimersByTime(1);
    await expect(turn).rejects.toEqual(fault("The model fell silent"));
    await server.requests[0]?.left;
    expect(server.requests).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});

test("P28: a slow drip is no silence, a stop in it is", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const drip = [say("a"), hold(), bytes(": still here\n\n"), hold(), say("b"), hang()];
    const { server, model } = await openScriptedModel([drip], { silenceMs: 60_000 });
    const { turn, written } = startTurn(model);
    await vi.waitUntil(() => written.length === 1, { interval: 1, timeout: 60_000 });
    vi.advanceTimersByTime(50_000);
    server.release();
    await server.held();
    vi.advanceTimersByTime(5_000);
    server.release();
    await vi.waitUntil(() => written.length === 2, { interval: 1, timeout: 60_000 });
    vi.advanceTimersByTime(50_000);
    await new Promise(setImmediate);
    expect(await Promise.race([turn, Promise.resolve("going on")])).toBe("going on");
    vi.advanceTimersByTime(10_000);
    await expect(turn).rejects.toEqual(fault("The model fell silent"));
  } finally {
    vi.useRealTimers();
  }
});

test("F7: a process that stood still for longer than the limit reads on: that was no silence of the model", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let stoodStillMs = 0;
  const now = performance.now.bind(performance);
  const elapsed = vi.spyOn(performance, "now").mockImplementation(() => now() + stoodStillMs);
  try {
    const { server, model } = await openScriptedModel([[say("a"), hold(), say("b")]], { silenceMs: 60_000 });
    const { turn, written } = startTurn(model);
    await vi.waitUntil(() => written.length === 1, { interval: 1, timeout: 60_000 });
    vi.advanceTimersByTime(45_000);
    // It wakes: timers are handled before anything is read.
    stoodStillMs = 3_600_000;
    vi.advanceTimersByTime(15_000);
    server.release();
    expect((await turn).text).toBe("ab");
  } finally {
    elapsed.mockRestore();
    vi.useRealTimers();
  }
});
