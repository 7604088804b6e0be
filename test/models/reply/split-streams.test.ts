// For src/models/reply/read-turn.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { PushedResponse } from "../../../src/models/exchange/pushed-response.ts";
import type { BodyReader } from "../../../src/models/exchange/pushed-response.ts";
import { readTurn } from "../../../src/models/reply/read-turn.ts";

const event = (json: object, end = "\n\n") => `data: ${JSON.stringify(json)}${end}`;
const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const call = (fields: object, called: object) =>
  chunk({ tool_calls: [{ index: 0, ...fields, function: called }] });
const usage = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } };
const DONE = "data: [DONE]\n\n";

/** Streams of the kinds that servers send. */
const FORMS: Record<string, string> = {
  "the API's":
    event(chunk({ role: "assistant" })) +
    event(chunk({ content: "Grüße, 😀 " })) +
    event(chunk({ content: "<b>" })) +
    event(chunk({}, "stop")) +
    event(usage) +
    DONE,
  "CRLF and comments": `: hi\r\n\r\n${event(chunk({ content: "Hel" }), "\r\n\r\n")}: ping\r\n\r\n${event(chunk({ content: "lo" }, "stop"), "\r\n\r\n")}`,
  "joined by one newline":
    event(chunk({ content: "Hel" }), "\n") +
    event(chunk({ content: "lo" }, "stop"), "\n") +
    event(usage, "\n"),
  "without the last blank line": event(chunk({ content: "All" })) + event(chunk({}, "stop"), ""),
  "a thought":
    event(chunk({ content: "<think>Hm</think>\n\nHel" })) +
    event(chunk({ content: "lo <think>hm" })) +
    event(chunk({ content: "</think>you" }, "stop")) +
    DONE,
  "a whole answer": `\n\n${JSON.stringify({ choices: [{ message: { content: "All" }, finish_reason: "stop" }], usage: usage.usage }, null, 2)}\n`,
  "a call in pieces":
    event(call({ id: "c1" }, { name: "find", arguments: "" })) +
    event(call({}, { arguments: '{"q":' })) +
    event(call({}, { arguments: '"a"}' })) +
    event(chunk({}, "tool_calls")) +
    DONE,
  "ids that change":
    event(call({ id: "c1" }, { name: "find", arguments: "{}" })) +
    event(call({ id: "c2" }, { arguments: '{"q":"a"}' })) +
    event(chunk({}, "tool_calls")) +
    DONE,
  "a call as text":
    event(chunk({ content: '{"name": "fi' })) +
    event(chunk({ content: 'nd", "arguments": {"q": "a"}}' })) +
    event(chunk({}, "stop")) +
    DONE,
  "JSON as text":
    event(chunk({ content: '{"name": "Ada"' })) +
    event(chunk({ content: ', "age": 36}' })) +
    event(chunk({}, "stop")) +
    DONE,
  "odd events": `data: keepalive\n\n${event(chunk({ content: "All" }))}data: null\n\n${event(chunk({}, "stop"))}data: {oops\n\n${event(usage)}data:  [done]\n\n`,
  "two halves of a pair": `data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\ndata: {"choices":[{"delta":{"content":"\\ude00b"},"finish_reason":"stop"}]}\n\n${DONE}`,
};

async function readIn(pieces: readonly Uint8Array[]) {
  let reader: BodyReader | null = null;
  const source = { readBy: (given: BodyReader) => void (reader = given), pause() {}, leave() {}, drop() {} };
  const response = new PushedResponse(source, { status: 200, isEncoded: false });
  const written: string[] = [];
  const turn = readTurn(response, {
    wrote: (text) => void written.push(text),
    quirks: { thinking: "tags", textCalls: true },
    offered: ["find"],
    odd() {},
  });
  for (const piece of pieces) {
    (reader as BodyReader | null)?.data(Buffer.from(piece));
    await Promise.resolve();
  }
  (reader as BodyReader | null)?.end();
  const { text, calls, usage: told, finishReason } = await turn;
  expect(written.join("")).toBe(text);
  return { text, told, finishReason, calls: calls.map(({ name, arguments: args }) => [name, args]) };
}

test.each(Object.entries(FORMS))(
  "P4: a stream makes the same turn, wherever its bytes are cut: %s",
  async (_form, raw) => {
    const whole = Buffer.from(raw);
    const turn = await readIn([whole]);
    expect(turn.text !== "" || turn.calls.length > 0).toBe(true);
    expect(await readIn([...whole].map((byte) => Uint8Array.of(byte)))).toEqual(turn);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 12 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const pieces = places.slice(1).map((to, nth) => whole.subarray(places[nth], to));
        expect(await readIn(pieces.filter(({ length }) => length > 0))).toEqual(turn);
      }),
      { numRuns: 100 },
    );
  },
);
