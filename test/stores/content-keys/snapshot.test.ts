// For src/stores/answerer-since.ts, src/stores/content-keys/snapshot.ts, src/stores/waits-for-approval.ts
import { expect, test } from "vitest";
import { threadHost } from "../../../src/charts/charts.ts";
import { NewerRecord } from "../../../src/store.ts";
import { answererSince } from "../../../src/stores/answerer-since.ts";
import { isWithoutContent, sealedOf, sealedSnapshot } from "../../../src/stores/content-keys/snapshot.ts";
import { waitsForApproval } from "../../../src/stores/waits-for-approval.ts";

const limits = { timeoutMs: 1, maxToolCalls: 1, toolResultTimeoutMs: 1, maxReplyChars: 1 };
type Limits = Parameters<typeof threadHost.decide>[1] & { type: "user.said" };

const initial = threadHost.initial();
const said = threadHost.decide(initial, {
  type: "user.said",
  runId: "r1",
  atMs: 1,
  limits: limits as unknown as Limits["limits"],
}).next;
const called = threadHost.decide(said, {
  type: "agent.called",
  calls: [
    { callId: "c1", kind: "page", tool: "cart", arguments: {}, progress: "Looking", repeatable: false },
  ],
  usage: null,
  atMs: 2,
}).next;
const asking = threadHost.decide(said, {
  type: "agent.called",
  calls: [
    {
      callId: "c1",
      kind: "server",
      tool: "refund",
      arguments: { note: "awaitingApproval" },
      progress: "Refunding",
      repeatable: false,
      confirm: "operator",
    },
  ],
  usage: null,
  atMs: 2,
}).next;
const asked = threadHost.decide(said, {
  type: "person.asked",
  by: "visitor",
  reason: "canary",
  waitMs: 1,
  atMs: 3,
}).next;

test("a thread's snapshot has something to hide where a call, a hint or a person is in it", () => {
  expect([initial, said].map((one) => isWithoutContent(threadHost.freeze(one)))).toEqual([true, true]);
  expect([called, asked].map((one) => isWithoutContent(threadHost.freeze(one)))).toEqual([false, false]);
});

test("one that is of a later version, or none, is hidden whole", () => {
  const frozen = JSON.parse(threadHost.freeze(said)) as { context: { run: object } };
  for (const context of [
    { ...frozen.context, note: "canary" },
    { ...frozen.context, run: { ...frozen.context.run, note: "canary" } },
  ]) {
    expect(isWithoutContent(JSON.stringify({ ...frozen, context }))).toBe(false);
  }
  for (const text of ["snapshot", "[]", "{}", '{"context":[]}']) expect(isWithoutContent(text)).toBe(false);
});

test("a sealed one says when who answers changed last, and no chart reads it", () => {
  const text = threadHost.freeze(asked);
  const stored = sealedSnapshot(text, "enc:v1:k:AAAA");
  expect(answererSince(stored)).toBe(answererSince(text));
  expect(answererSince(stored)).toBe(3);
  expect(sealedOf(stored)).toBe("enc:v1:k:AAAA");
  expect(sealedOf(text)).toBeNull();
  expect(() => threadHost.thaw(stored)).toThrow(NewerRecord);
});

test("a sealed one says that a call waits for approval, as the plain one does by its state, and by no text in it", () => {
  const texts = [initial, said, called, asked, asking].map((one) => threadHost.freeze(one));
  const waits = [false, false, false, false, true];
  expect(texts.map(waitsForApproval)).toEqual(waits);
  expect(texts.map((text) => waitsForApproval(sealedSnapshot(text, "enc:v1:k:AAAA")))).toEqual(waits);
  const saysSo = { ...called, context: { ...called.context, hint: '{"running":"awaitingApproval"}' } };
  expect(waitsForApproval(JSON.stringify({ value: called.value, context: saysSo.context }))).toBe(false);
  expect(waitsForApproval(null)).toBe(false);
});
