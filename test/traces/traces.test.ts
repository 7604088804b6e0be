// For src/traces/
import { expect, test, vi } from "vitest";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { valueOf } from "../metrics/sample.ts";
import {
  bytes,
  call,
  lastUserText,
  say,
  status,
  unreachableBaseUrl,
  usage,
} from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { sampleChannel } from "../stores/samples.ts";
import { sendMessage, startTestService, TEST_KEY } from "../support/servers/service.ts";
import { startReceiver } from "./receiver.ts";
import { cliChannel, openTraced, startTraced } from "./traced.ts";

const CANARY = "canary-of-somebody";

/** What a reply with a tool's call, its refusal and a text looks like. */
const WITH_TEXTS = [
  [usage(10, 1), call("task_failed_not", { text: CANARY })],
  [usage(20, 2), say(`${CANARY} says hello`)],
];

test("no text of anybody is in a span; with the flag, messages and answers are, as the conventions write them", async () => {
  const silent = await startTraced(WITH_TEXTS);
  await silent.say(CANARY);
  await silent.spans(3);
  expect(silent.receiver.bytes()).not.toContain(CANARY);

  const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" };
  const channel = cliChannel({ agent: { instructions: "Be kind" } });
  const telling = await startTraced(WITH_TEXTS, { env, channel });
  await telling.say(CANARY);
  const spans = await telling.spans(3);
  const [, second] = spans.filter(({ name }) => name === "chat scripted");
  const told = (name: string) => JSON.parse(String(second?.attributes[name])) as unknown;
  expect(told("gen_ai.system_instructions")).toMatchObject([
    { type: "text", content: expect.stringContaining("Be kind") as string },
  ]);
  expect(told("gen_ai.input.messages")).toMatchObject([
    { role: "user", parts: [{ type: "text", content: expect.stringContaining(CANARY) as string }] },
    { role: "assistant", parts: [{ type: "tool_call", name: "task_failed_not" }] },
    { role: "tool", parts: [{ type: "tool_call_response" }] },
  ]);
  expect(told("gen_ai.output.messages")).toEqual([
    {
      role: "assistant",
      parts: [{ type: "text", content: `${CANARY} says hello` }],
      finish_reason: "stop",
    },
  ]);
});

test("a model's server that echoes is not quoted: in a finish reason, a tool that nobody offered, an error", async () => {
  const chunk = (what: object) => bytes(`data: ${JSON.stringify(what)}\n\n`);
  const error = { message: CANARY, type: CANARY, code: CANARY, param: CANARY };
  const called = [call(CANARY, {}, CANARY)];
  const ended = [say("Yes"), chunk({ choices: [{ index: 0, delta: {}, finish_reason: CANARY }] })];
  const refused = [status(400, {}, JSON.stringify({ error }))];
  const brokenOff = [say("I "), chunk({ error })];
  const turns = new Map<string, ScriptedTurn>(Object.entries({ called, ended, refused, brokenOff }));
  const script = (request: ModelServerRequest) => {
    const isCalled = request.body.messages.at(-1)?.role === "tool";
    return (isCalled ? null : turns.get(lastUserText(request))) ?? "Well";
  };
  const { say: send, spans, receiver } = await startTraced(script);
  for (const text of turns.keys()) await send(text);
  const told = await spans(9);
  expect(receiver.bytes()).not.toContain(CANARY);
  expect(told.map(({ attributes }) => attributes["gen_ai.response.finish_reasons"])).toContainEqual([
    "_OTHER",
  ]);
});

test("the segment adds up what its model calls used", async () => {
  const { say: send, spans } = await startTraced(WITH_TEXTS);
  await send("Hello");
  const [segment] = (await spans(3)).filter(({ name }) => name === "invoke_agent");
  expect(segment?.attributes).toMatchObject({
    "gen_ai.usage.input_tokens": 30,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.conversation.id": threadUid("cli", "ada", "t1"),
    "chat_agent.segment.end": "done",
  });
});

test("a model that refuses fails its call and the segment, by kinds of errors and no words", async () => {
  const { say: send, spans } = await startTraced([
    [status(401, {}, JSON.stringify({ error: { message: CANARY } }))],
  ]);
  await send("Hello");
  const told = await spans(2);
  expect(told.map(({ name, isError, attributes }) => [name, isError, attributes["error.type"]])).toEqual([
    ["invoke_agent", true, "run_failed"],
    ["chat scripted", true, "ModelFault"],
  ]);
});

test("a segment that a person ends is linked to by the next one, whatever the person was told meanwhile", async () => {
  const channel = cliChannel({ handoff: { enabled: true } });
  const script = [[call("hand_off", { reason: "r", summary: "s" })], [say("Back again")], [say("And on")]];
  const { say: send, spans, service } = await startTraced(script, { channel });
  await send("I want a person");
  await send("Are you there?");
  const acted = { uid: threadUid("cli", "ada", "t1"), slug: "cli", name: "Olga" };
  const epoch = await service.threads.people.take({ ...acted, epoch: 1 });
  await send("Hello, person");
  await service.threads.people.handBack({ ...acted, epoch, how: "returned", note: null });
  await send("Thank you");
  await send("One more");

  const segments = (await spans(6)).filter(({ name }) => name === "invoke_agent");
  expect(segments.map(({ attributes }) => attributes["chat_agent.segment.end"])).toEqual([
    "person",
    "done",
    "done",
  ]);
  expect(segments.map(({ links }) => links.map(({ spanId }) => spanId))).toEqual([
    [],
    [segments[0]?.spanId],
    [],
  ]);
});

test("a caller's trace goes on, one that is not sampled is not told of, and a malformed one counts as none", async () => {
  const { service, receiver, spans } = await startTraced([]);
  const send = async (threadId: string, traceparent: string) => {
    const response = await fetch(`${service.url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json", traceparent },
      body: JSON.stringify({ threadId, userId: "ada", text: "Hello" }),
    });
    await response.text();
  };
  const ids = (digit: string) => `${digit.repeat(32)}-${digit.repeat(16)}`;
  await send("unsampled", `00-${ids("c")}-00`);
  await send("wrong", "00-not-a-trace-01");
  await fetch(`${service.url}/health`);
  await send("sampled", `00-${ids("d")}-01`);
  await spans(4);
  await expect.poll(() => receiver.spans.filter(({ kind }) => kind === "SERVER")).toHaveLength(2);
  const requests = receiver.spans.filter(({ kind }) => kind === "SERVER");
  expect(requests.map(({ name }) => name)).toEqual(["POST /v1/messages", "POST /v1/messages"]);
  expect(requests.map(({ parentSpanId }) => parentSpanId).sort()).toEqual(["", "d".repeat(16)]);
  const traces = receiver.spans.map(({ traceId }) => traceId);
  expect(traces).not.toContain("c".repeat(32));
  expect(traces.filter((traceId) => traceId === "d".repeat(32))).toHaveLength(3);
  expect(requests[0]?.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/v1/messages",
    "http.response.status_code": 200,
  });
});

test("G21: a visitor's traceparent neither chooses the trace nor hides the run: it is a link", async () => {
  const { service, receiver, spans } = await startTraced([], { channel: sampleChannel({ agent: {} }) });
  const origin = "https://shop.example";
  const post = (path: string, body: object | null, headers: Record<string, string>) =>
    fetch(`${service.url}/v1/widget${path}`, {
      method: "POST",
      headers: { origin, "content-type": "application/json", ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const got = async <Field extends string>(response: Promise<Response>) =>
    (await (await response).json()) as Record<Field, string>;
  const { visitorToken } = await got<"visitorToken">(
    post("/visitors", null, { "x-publishable-key": "pk_shop" }),
  );
  const token = { "x-visitor-token": visitorToken };
  const { threadId } = await got<"threadId">(post("/threads", null, token));
  const ids = (digit: string) => `${digit.repeat(32)}-${digit.repeat(16)}`;
  const say = async (text: string, traceparent: string, more: Record<string, string> = {}) =>
    (await post("/messages", { threadId, text }, { ...token, traceparent, ...more })).text();
  await say("hidden", `00-${ids("c")}-00`);
  await say("chosen", `00-${ids("d")}-01`);
  await say("with a key that is none", `00-${ids("e")}-01`, { authorization: "Bearer no-key" });
  await spans(6);
  const told = () => receiver.spans.filter(({ name }) => name === "POST /v1/widget/messages");
  await expect.poll(told).toHaveLength(3);
  expect(told().map(({ parentSpanId }) => parentSpanId)).toEqual(["", "", ""]);
  expect(new Set(told().flatMap(({ links }) => links.map(({ spanId }) => spanId)))).toEqual(
    new Set(["c", "d", "e"].map((digit) => digit.repeat(16))),
  );
  const traces = receiver.spans.map(({ traceId }) => traceId);
  expect(traces.filter((traceId) => /^(c+|d+|e+)$/.test(traceId))).toEqual([]);
});

test("lines of the log carry the ids of their span, and none where traces are off", async () => {
  const { service, receiver, say: send } = await startTraced([]);
  await send("Hello");
  await expect.poll(() => receiver.spans.map(({ kind }) => kind)).toContain("SERVER");
  const [request] = receiver.spans.filter(({ kind }) => kind === "SERVER");
  const line = service.logged.find((text) => text.includes('"/v1/messages"')) ?? "";
  expect(JSON.parse(line)).toMatchObject({ trace_id: request?.traceId, span_id: request?.spanId });

  const off = await startTestService();
  await sendMessage(off.url, { threadId: "t1", userId: "ada", text: "Hello" });
  expect(off.logged.join("")).not.toContain("trace_id");
});

test("http/json says the same, with the operator's headers and resource", async () => {
  const env = {
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=shop",
    OTEL_SERVICE_NAME: "our-agent",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  };
  const { receiver, say: send, spans } = await startTraced([], { env });
  await send("Hello");
  const told = await spans(2);
  expect(told.map(({ name, kind }) => [name, kind])).toEqual([
    ["invoke_agent", "INTERNAL"],
    ["chat scripted", "CLIENT"],
  ]);
  expect([...receiver.contentTypes]).toEqual(["application/json"]);
  expect(receiver.headers["x-tenant"]).toBe("shop");
  expect(told[0]?.resource).toEqual({
    "service.name": "our-agent",
    "service.version": "0.0.0-test",
    "service.instance.id": "test-process",
    "deployment.environment.name": "test",
  });
});

test("an exporter that is down changes no answer, and is counted", async () => {
  const { origin } = new URL(await unreachableBaseUrl());
  const { tracing, counts } = await openTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: origin,
    OTEL_EXPORTER_OTLP_TIMEOUT: "100",
  });
  const service = await startTestService({ tracing });
  const reply = await sendMessage(service.url, { threadId: "t1", userId: "ada", text: "Hello" });
  expect(reply.lines.at(-1)?.type).toBe("done");
  await expect.poll(() => counts.failed).toBeGreaterThanOrEqual(2);
  expect(counts.exported).toBe(0);
  expect(service.logged.join("")).not.toContain(origin);
});

test("spans that wait for an exporter are bounded: more are dropped, and counted", async () => {
  const { url } = await startReceiver();
  const { tracing, counts } = await openTraced({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_BSP_MAX_QUEUE_SIZE: "3",
    OTEL_BSP_SCHEDULE_DELAY: "60000",
  });
  const asked = { method: "GET", route: "/v1/threads", parent: null, link: null };
  // In one tick: nothing is sent in between.
  for (let nth = 0; nth < 10; nth++) tracing.request(asked).end(200);
  await vi.waitUntil(() => counts.exported + counts.dropped === 10, { timeout: 60_000 });
  expect(counts.dropped).toBeGreaterThan(0);
  expect(counts.failed).toBe(0);
});

test("/metrics counts what became of spans", async () => {
  const metrics = await createMetrics();
  metrics.onSpans("failed", 3);
  metrics.onSpans("failed", 2);
  expect(await valueOf(metrics, 'chat_agent_trace_spans_total{outcome="failed"}')).toBe(5);
});
