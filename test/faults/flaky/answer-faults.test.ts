// For test/faults/
import { expect, test } from "vitest";
import { answerFaults } from "./answer-faults.ts";
import type { Heard } from "../history/client.ts";

/** The judge of answers itself: an answer for each thing that can be wrong with one. */
const DONE = { type: "done", elapsedMs: 1 } as const;
const SAID = { type: "delta", text: "Hello" } as const;

function heard(status: number | null, rest: Partial<Heard> = {}): Heard {
  return { status, lines: [], text: "", value: {}, ...rest };
}

const message = (answer: Heard) => answerFaults({ route: "POST /v1/messages", heard: answer });

test("a whole stream, an outage and what the contract has are faultless", () => {
  expect(message(heard(200, { lines: [SAID, DONE] }))).toEqual([]);
  expect(message(heard(503))).toEqual([]);
  expect(answerFaults({ route: "POST /v1/widget/tool-results", heard: heard(409) })).toEqual([]);
  const history = heard(200, { text: '{"items":[]}' });
  expect(answerFaults({ route: "GET /v1/widget/threads/{id}/messages", heard: history })).toEqual([]);
});

test.each([
  ["no answer", heard(null)],
  ["another status", heard(500)],
  ["an outage with a body", heard(503, { text: "Redis" })],
  ["a stream without a line", heard(200)],
  ["a stream that is cut", heard(200, { lines: [SAID] })],
  ["a line after the terminal one", heard(200, { lines: [DONE, SAID] })],
  ["two terminal lines", heard(200, { lines: [SAID, DONE, DONE] })],
])("finds %s", (_name, answer) => {
  expect(message(answer)).toHaveLength(1);
});
