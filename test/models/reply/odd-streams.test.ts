// For src/models/reply/, src/models/exchange/decoder.ts
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ModelCall } from "../../../src/model.ts";
import { openOpenAi } from "../../../src/models/openai.ts";
import { bytes, cut, hang, hold, reset } from "../../support/servers/model-server.ts";
import type { Act } from "../../support/servers/model-server.ts";
import { noPause, openScriptedModel, startTurn } from "../../support/servers/open-model.ts";
import { startRawServer } from "../../support/servers/raw-server.ts";

/** Streams as real servers send them, where they differ from the API. */
const event = (json: object) => `data: ${JSON.stringify(json)}\n\n`;
const delta = (fields: object, finish: string | null = null) =>
  event({ choices: [{ index: 0, delta: fields, finish_reason: finish }] });
const part = (fields: object, called: object = {}) =>
  delta({ tool_calls: [{ index: 0, ...fields, function: called }] });
const told = (input: number, output: number) =>
  event({ choices: [], usage: { prompt_tokens: input, completion_tokens: output } });
const END = `${delta({}, "tool_calls")}data: [DONE]\n\n`;
const tools = ["find", "look", "now"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object" },
}));

/** A turn whose stream is these bytes, to its end. */
async function read(...events: string[]) {
  const { server, model } = await openScriptedModel([[bytes(events.join("")), cut()]]);
  const turn = await startTurn(model, { request: { tools } }).turn;
  expect(server.requests).toHaveLength(1);
  return turn;
}

const called = (calls: readonly ModelCall[]) => calls.map(({ name, arguments: args }) => [name, args]);
const A = '{"q":"a"}';

describe("calls in pieces", () => {
  test.each<[string, string[]]>([
    [
      "its id comes late",
      [
        part({}, { name: "find", arguments: "" }),
        part({ id: "c1" }, { arguments: '{"q":' }),
        part({ id: "c1" }, { arguments: '"a"}' }),
      ],
    ],
    [
      "its id comes late, with its name again",
      [part({}, { name: "find", arguments: "" }), part({ id: "c1" }, { name: "find", arguments: A })],
    ],
    [
      "its id changes after the first piece",
      [
        part({ id: "c1" }, { name: "find", arguments: "" }),
        part({ id: "c2" }, { arguments: '{"q":' }),
        part({ id: "c2" }, { arguments: '"a"}' }),
      ],
    ],
    [
      "its id changes with each piece",
      [
        part({ id: "c1" }, { name: "find", arguments: "" }),
        part({ id: "c2" }, { arguments: '{"q":' }),
        part({ id: "c3" }, { arguments: '"a"}' }),
      ],
    ],
    [
      "its id changes with each piece, and each has the name",
      [
        part({ id: "c1" }, { name: "find", arguments: '{"q":' }),
        part({ id: "c2" }, { name: "find", arguments: '"a' }),
        part({ id: "c3" }, { name: "find", arguments: '"}' }),
      ],
    ],
    [
      "its name comes late",
      [part({ id: "c1" }, { arguments: '{"q":' }), part({ id: "c2" }, { name: "find", arguments: '"a"}' })],
    ],
    [
      "its arguments have another number",
      [part({ id: "c1" }, { name: "find", arguments: "" }), part({ index: 1 }, { arguments: A })],
    ],
    [
      "its number is a text",
      [
        part({ index: "0", id: "c1" }, { name: "find", arguments: '{"q":' }),
        part({ index: "0" }, { arguments: '"a"}' }),
      ],
    ],
    [
      "it comes again at the end",
      [
        part({ id: "c1" }, { name: "find", arguments: A }),
        part({ id: "c1" }, { name: "find", arguments: A }),
      ],
    ],
    [
      "its arguments come again at the end",
      [part({ id: "c1" }, { name: "find", arguments: A }), part({}, { arguments: A })],
    ],
  ])("B1: a call is one call: %s", async (_how, parts) => {
    const { calls } = await read(...parts, END);
    expect(called(calls)).toEqual([["find", A]]);
    expect(calls[0]?.callId).not.toBe("");
  });

  test.each<[string, string[]]>([
    [
      "an id for each",
      [
        part({ id: "c1" }, { name: "find", arguments: A }),
        part({ id: "c2" }, { name: "find", arguments: A }),
      ],
    ],
    [
      "other numbers",
      [
        part({ id: "c" }, { name: "find", arguments: A }),
        part({ index: 1, id: "c" }, { name: "find", arguments: A }),
      ],
    ],
    [
      "pieces that take turns, under one number",
      [
        part({ id: "c1" }, { name: "find", arguments: "" }),
        part({ id: "c2" }, { name: "look", arguments: "" }),
        part({ id: "c1" }, { arguments: A }),
        part({ id: "c2" }, { arguments: A }),
      ],
    ],
  ])("B1: two calls stay two: %s", async (_how, parts) => {
    const { calls } = await read(...parts, END);
    expect(calls.map(({ arguments: args }) => args)).toEqual([A, A]);
  });

  test("B1: two calls without arguments stay two, by their ids", async () => {
    const { calls } = await read(
      part({ id: "c1" }, { name: "now", arguments: "" }),
      part({ id: "c2" }, { name: "now", arguments: "" }),
      END,
    );
    expect(called(calls)).toEqual([
      ["now", ""],
      ["now", ""],
    ]);
  });

  test.each<[string, string]>([
    ["alone", part({}, { arguments: A })],
    ["with id and name again", part({ id: "c1" }, { name: "find", arguments: A })],
    ["with its name again", part({}, { name: "find", arguments: A })],
    ["in pieces", part({}, { arguments: '{"q":' }) + part({}, { arguments: '"a"}' })],
  ])("M7: an empty object before the arguments is none of them: %s", async (_how, second) => {
    const { calls } = await read(part({ id: "c1" }, { name: "find", arguments: "{}" }), second, END);
    expect(called(calls)).toEqual([["find", A]]);
  });

  test("M7: an object within the arguments is a part of them", async () => {
    const pieces = ['{"a":', "{}", ',"b":[', '{"c":1}', ",", "{}", "]}"];
    const { calls } = await read(
      part({ id: "c1" }, { name: "find" }),
      ...pieces.map((args) => part({}, { arguments: args })),
      END,
    );
    expect(called(calls)).toEqual([["find", pieces.join("")]]);
  });

  test.each([
    ["with ids", { id: "c1" }],
    ["without ids", {}],
  ])("a name that comes in pieces is one, where a tool has it: %s", async (_how, fields) => {
    const { calls } = await read(
      part({ id: "c1" }, { name: "lo" }),
      part(fields, { name: "ok" }),
      part({}, { arguments: A }),
      END,
    );
    expect(called(calls)).toEqual([["look", A]]);
  });

  test("the old function_call delta is a call", async () => {
    const { calls } = await read(
      delta({ content: null, function_call: { name: "find", arguments: "" } }),
      delta({ function_call: { arguments: '{"q":' } }),
      delta({ function_call: { arguments: '"a"}' } }),
      delta({}, "function_call"),
      "data: [DONE]\n\n",
    );
    expect(called(calls)).toEqual([["find", A]]);
  });

  test("B5: a call without a name beside text is none", async () => {
    const turn = await read(delta({ content: "Here." }), part({ id: "c1" }, { arguments: A }), END);
    expect(turn).toMatchObject({ text: "Here.", calls: [] });
  });

  test("B5: a call without a name, and nothing else, is asked again", async () => {
    const nameless = [bytes(part({ id: "c1" }, { arguments: A }) + END), cut()];
    const { server, model } = await openScriptedModel([nameless, "Fine."]);
    expect((await startTurn(model, { request: { tools } }).turn).text).toBe("Fine.");
    expect(server.requests).toHaveLength(2);
  });

  test("P28: arguments without an end are not collected without one", async () => {
    const { model } = await openScriptedModel([
      (function* (): Iterable<Act> {
        yield bytes(part({ id: "c1" }, { name: "find", arguments: "" }));
        for (;;) yield bytes(part({}, { arguments: "x".repeat(60_000) }));
      })(),
    ]);
    await expect(startTurn(model, { request: { tools } }).turn).rejects.toThrow("was not understood");
  });
});

describe("the end of a turn", () => {
  test.each([
    ["one newline", "\n"],
    ["none", ""],
  ])("M8: the last event may lack its blank line: %s", async (_how, newlines) => {
    const last = delta({}, "stop").trimEnd() + newlines;
    expect(await read(delta({ content: "All of it." }), last)).toMatchObject({
      text: "All of it.",
      finishReason: "stop",
    });
  });

  test("M8: the last event counts where the connection breaks, too", async () => {
    const { server, model } = await openScriptedModel([
      [bytes(delta({ content: "All" }) + delta({}, "stop").trimEnd()), hold(), reset()],
    ]);
    const { turn, written } = startTurn(model);
    await expect.poll(() => written).toEqual(["All"]);
    server.release();
    expect((await turn).text).toBe("All");
  });

  test.each(["data:  [DONE] \n\n", 'data: "[DONE]"\n\n', "data: [done]\n\n"])(
    "B3: a [DONE] that is written otherwise is one: %j",
    async (done) => {
      const { model } = await openScriptedModel([[bytes(delta({ content: "All" }, "stop") + done), hang()]], {
        silenceMs: 600_000,
      });
      expect(await startTurn(model).turn).toMatchObject({ text: "All", finishReason: "stop" });
    },
  );

  test.each([
    "data: keepalive\n\n",
    "data: {oops\n\n",
    'data: {"choices":"none"}\n\n',
    "data: null\n\n",
    event({ error: { message: "late" } }),
    delta({ content: " And more" }),
    part({ id: "c1" }, { name: "find", arguments: A }),
  ])("B3: what comes after the end is read for usage, and else ignored: %j", async (after) => {
    const turn = await read(delta({ content: "All" }), delta({}, "stop"), after, told(10, 5));
    expect(turn).toMatchObject({
      text: "All",
      calls: [],
      finishReason: "stop",
      usage: { input: 10, output: 5 },
    });
  });

  test("B3: an end that each chunk has is the last one's", async () => {
    const turn = await read(delta({ content: "Al" }, "STOP"), delta({ content: "l" }, "STOP"), told(10, 5));
    expect(turn).toMatchObject({ text: "All", finishReason: "stop", usage: { input: 10, output: 5 } });
    const cutOff = await read(delta({ content: "Al" }, "STOP"), delta({ content: "l" }, "MAX_TOKENS"));
    expect(cutOff).toMatchObject({ text: "All", finishReason: "length" });
    expect((await read(delta({ content: "All" }, "length"), delta({}, "stop"))).finishReason).toBe("length");
  });

  test.each([
    "data: keepalive\n\n",
    "data: ping\n\n",
    "data: null\n\n",
    "data: \n\n",
    'data: "hm"\n\n',
    "data: 7\n\n",
  ])("B6: an event that is no chunk adds nothing: %j", async (odd) => {
    expect(await read(delta({ content: "Al" }), odd, delta({ content: "l" }, "stop"))).toMatchObject({
      text: "All",
    });
  });

  test("B6: fields of other types fail no turn", async () => {
    const turn = await read(
      event({ choices: { index: "0", delta: { content: "4" } } }),
      event({
        choices: [{ index: "0", delta: { content: 2, refusal: false, tool_calls: {} } }],
        usage: "much",
      }),
      event({ choices: [null, { delta: "!", finish_reason: "" }] }),
      delta({}, "stop"),
    );
    expect(turn).toMatchObject({ text: "42!", finishReason: "stop" });
  });

  test.each(["overloaded_error", "OVERLOADED", "upstream_timeout"])(
    "B2: an end that names an error is one: %s",
    async (reason) => {
      const half = [bytes(delta({ content: "Half" })), hold(), bytes(delta({}, reason)), cut()];
      const { server, model } = await openScriptedModel([[bytes(delta({}, reason)), cut()], half]);
      const { turn, written } = startTurn(model);
      await expect.poll(() => written).toEqual(["Half"]);
      server.release();
      await expect(turn).rejects.toThrow("The model answered with an error");
      expect(server.requests).toHaveLength(2);
    },
  );

  test.each([
    ["an error", [told(10, 5), delta({}, "stop"), told(0, 0)]],
    [
      "counting up",
      [
        event({ choices: [{ delta: { content: "a" } }], usage: { prompt_tokens: 10, completion_tokens: 1 } }),
        delta({}, "stop"),
        told(10, 5),
      ],
    ],
    ["in two halves", [told(10, 0), delta({}, "stop"), told(0, 5)]],
  ])("B9: the largest usage that was told counts: %s", async (_how, events) => {
    expect((await read(...events)).usage).toEqual({ input: 10, output: 5 });
  });

  test("events joined by one newline are read as they come", async () => {
    const joined = [delta({ content: "Al" }), delta({ content: "l" }), delta({}, "stop"), told(10, 5)];
    const raw = joined.map((each) => each.trimEnd()).join("\n");
    expect(await read(raw)).toMatchObject({ text: "All", usage: { input: 10, output: 5 } });
    const { server, model } = await openScriptedModel([[bytes(`${raw}\n`), hold(), cut()]]);
    const { turn, written } = startTurn(model);
    await expect.poll(() => written).toEqual(["All"]);
    server.release();
    await turn;
  });

  test("an event in lines of its own is one", async () => {
    const pretty = JSON.stringify(
      { choices: [{ delta: { content: "All" }, finish_reason: "stop" }] },
      null,
      2,
    );
    expect(
      (
        await read(
          `${pretty
            .split("\n")
            .map((line) => `data: ${line}\n`)
            .join("")}\n`,
        )
      ).text,
    ).toBe("All");
  });

  test("B10: a server that neither says [DONE] nor closes has 2 seconds for usage", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { server, model } = await openScriptedModel(
        [
          [
            bytes(delta({ content: "All" }) + delta({}, "stop")),
            hold(),
            bytes(event({ choices: [{ delta: {} }], usage: { prompt_tokens: 10, completion_tokens: 5 } })),
            hang(),
          ],
        ],
        { silenceMs: 600_000 },
      );
      const { turn, written } = startTurn(model);
      await vi.waitUntil(() => written.length === 1, { interval: 1, timeout: 60_000 });
      await server.held();
      server.release();
      for (let rounds = 0; rounds < 20; rounds++) await new Promise(setImmediate);
      vi.advanceTimersByTime(1_999);
      await new Promise(setImmediate);
      expect(await Promise.race([turn, Promise.resolve("going on")])).toBe("going on");
      vi.advanceTimersByTime(1);
      expect(await turn).toMatchObject({ text: "All", finishReason: "stop" });
      // The connection is closed: nobody waits for the rest.
      vi.advanceTimersByTime(1_000);
      await server.requests[0]?.left;
    } finally {
      vi.useRealTimers();
    }
  });

  test("B11: a stream that comes compressed is read, and the log says so once", async () => {
    const body = gzipSync(delta({ content: "All" }) + delta({}, "stop") + told(10, 5));
    const server = await startRawServer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    const warnings: string[] = [];
    const log = { warn: (_fields: object, text: string) => void warnings.push(text) };
    const model = openOpenAi({
      apiKey: null,
      baseUrl: server.origin,
      silenceMs: 30_000,
      pause: noPause,
      log,
    });
    onTestFinished(() => model.close());
    for (const _ of [1, 2])
      expect(await startTurn(model).turn).toMatchObject({ text: "All", usage: { input: 10, output: 5 } });
    expect(warnings).toEqual([expect.stringContaining("compressed")]);
  });

  test("P28: a whole answer without an end is not collected without one", async () => {
    const { server, model } = await openScriptedModel([
      (function* (): Iterable<Act> {
        yield bytes('{"choices":[{"message":{"content":"');
        for (;;) yield bytes("x".repeat(60_000));
      })(),
    ]);
    await expect(startTurn(model).turn).rejects.toThrow("was not understood");
    await server.requests[0]?.left;
  });

  test("P28: fields that are too deep to be written again are left out", async () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    const raw = `data: {"choices":[{"delta":{"content":"All","odd":${deep}}}]}\n\n`;
    const turn = await read(raw, delta({}, "stop"));
    expect(turn.text).toBe("All");
    expect(turn).not.toHaveProperty("extra");
  });
});
