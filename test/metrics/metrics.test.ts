// For src/metrics/
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import type { Metrics } from "../../src/metrics/metrics.ts";
import { ModelFault } from "../../src/model.ts";
import { countWaiting } from "../../src/operators/stats/count-waiting.ts";
import { MESSENGER_ENDPOINT } from "../../src/domain/channels/messenger.ts";
import { messengerLevels, webhookLevels } from "../../src/operators/stats/queue-levels.ts";
import { countWithPerson } from "../../src/operators/stats/count-with-person.ts";
import { openMetricsPort } from "../../src/start/open-metrics-port.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { timedMethods } from "../../src/metrics/timed-methods.ts";
import { endpointOf } from "../../src/domain/threads/tellings.ts";
import { sampleChannel, sampleCommit } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { bytes, call, hold, say, status, usage } from "../support/servers/model-server.ts";
import { openScriptedModel, plainRequest } from "../support/servers/open-model.ts";
import { sendMessage, startTestService, TEST_KEY } from "../support/servers/service.ts";
import { valueOf } from "./sample.ts";

describe("the model's metrics", () => {
  test("count tokens, and turns by how they ended", async () => {
    const metrics = await createMetrics();
    const { model, server } = await openScriptedModel([
      [say("Hi"), usage(7, 3)],
      [status(400)],
      [call("clock")],
    ]);
    const timedModel = metrics.timeModel(model);
    const turn = (signal = new AbortController().signal) => timedModel.stream(plainRequest, () => {}, signal);

    expect((await turn()).text).toBe("Hi");
    await expect(turn()).rejects.toThrow(ModelFault);
    expect((await turn()).calls).toHaveLength(1);
    await expect(turn(AbortSignal.abort(new Error("left")))).rejects.toThrow("left");

    const ended = (outcome: string) =>
      valueOf(metrics, `chat_agent_model_turn_seconds_count{model="scripted",outcome="${outcome}"}`);
    expect([await ended("done"), await ended("failed"), await ended("aborted")]).toEqual([2, 1, 1]);
    expect(await valueOf(metrics, 'chat_agent_model_first_text_seconds_count{model="scripted"}')).toBe(1);
    const reasons = (reason: string) =>
      valueOf(metrics, `chat_agent_model_ends_total{model="scripted",reason="${reason}"}`);
    expect([await reasons("stop"), await reasons("tool_calls")]).toEqual([1, 1]);
    expect(
      await valueOf(metrics, 'chat_agent_model_tokens_total{model="scripted",direction="input"}'),
    ).toBeGreaterThanOrEqual(7);
    expect(server.requests.length).toBeGreaterThanOrEqual(3);
  });
});

test("M13: an answer without a finish_reason, or with an unknown one, is no stop", async () => {
  const metrics = await createMetrics();
  const end = (reason: string | null) =>
    bytes(`data: ${JSON.stringify({ choices: [{ delta: { content: "a" }, finish_reason: reason }] })}\n\n`);
  const done = bytes("data: [DONE]\n\n");
  const { model } = await openScriptedModel([
    [end(null), done],
    [end("because"), done],
  ]);
  const timedModel = metrics.timeModel(model);
  for (const _ of [1, 2]) await timedModel.stream(plainRequest, () => {}, new AbortController().signal);
  const reasons = (reason: string) =>
    valueOf(metrics, `chat_agent_model_ends_total{model="scripted",reason="${reason}"}`);
  expect([await reasons("none"), await reasons("other")]).toEqual([1, 1]);
  expect(await reasons("stop")).toBeNull();
});

test("M14: odd answers count by provider, model and what was odd", async () => {
  const metrics = await createMetrics();
  metrics.onOddAnswer({ provider: "local", model: "m", oddity: "call_as_text" });
  expect(
    await valueOf(
      metrics,
      'chat_agent_model_odd_answers_total{provider="local",model="m",oddity="call_as_text"}',
    ),
  ).toBe(1);
});

test("retention tells what it has deleted, and what it is behind with", async () => {
  const metrics = await createMetrics();
  const { retentionProgress } = metrics;
  retentionProgress.deleted("shop", "thread");
  retentionProgress.deleted("shop", "thread");
  retentionProgress.usersSeen("shop", 200);
  retentionProgress.overdue("shop", 90_000);
  expect(await valueOf(metrics, 'chat_agent_retention_deleted_total{channel="shop",kind="thread"}')).toBe(2);
  expect(await valueOf(metrics, 'chat_agent_retention_users_seen_total{channel="shop"}')).toBe(200);
  expect(await valueOf(metrics, 'chat_agent_retention_overdue_seconds{channel="shop"}')).toBe(90);
});

test("a level that cannot be read hides no other", async () => {
  const metrics = await createMetrics();
  const levels = {
    openStreams: () => 3,
    threadsHeld: () => 0,
    repliesWaiting: () => 0,
    openFeeds: () => 0,
    modelNotes: () => [],
    lostLines: () => 0,
  };
  const away = () => Promise.reject(new Error("the store is away"));
  metrics.watch({ ...levels, waitingForPerson: away, withPerson: away, webhooks: away, messengers: away });
  expect(await valueOf(metrics, "chat_agent_open_streams")).toBe(3);
  expect(await valueOf(metrics, "chat_agent_waiting_for_person")).toBeNaN();
  expect(await valueOf(metrics, "chat_agent_with_person")).toBeNaN();
});

describe("the threads' metrics", () => {
  const moved = (lines: Parameters<Metrics["observer"]["moved"]>[0]["lines"]) => ({
    slug: "shop",
    uid: "u",
    runId: "r",
    rev: 1,
    move: { atMs: 0, event: "agent.called", state: "awaitingPageTool", said: [] },
    lines,
  });

  test("count tool calls by who runs them, and takeovers", async () => {
    const metrics = await createMetrics();
    const running = { type: "step", id: "cart", phase: "running", text: "" } as const;
    const done = { type: "step", id: "cart", phase: "done", text: "" } as const;
    metrics.observer.moved(moved([running]));
    metrics.observer.moved(
      moved([done, running, { type: "tool_call", tool: "cart", arguments: {}, callId: "c" }]),
    );
    metrics.observer.takenOver({ slug: "shop", uid: "u", runId: "r" });
    expect(await valueOf(metrics, 'chat_agent_tool_calls_total{kind="server"}')).toBe(1);
    expect(await valueOf(metrics, 'chat_agent_tool_calls_total{kind="page"}')).toBe(1);
    expect(await valueOf(metrics, "chat_agent_takeovers_total")).toBe(1);
  });

  test("count what a limit refused, and runs that a daily cap ended", async () => {
    const metrics = await createMetrics();
    metrics.onAnswered({ route: "/v1/widget/messages", status: 429, ms: 1 });
    metrics.onAnswered({ route: "/v1/widget/messages", status: 200, ms: 1 });
    expect(await valueOf(metrics, 'chat_agent_refused_by_limit_total{route="/v1/widget/messages"}')).toBe(1);
    for (const cap of ["channel", "channel", "installation"]) metrics.onSpent({ slug: "shop", cap });
    const over = (cap: string) =>
      valueOf(metrics, `chat_agent_over_daily_cap_total{channel="shop",cap="${cap}"}`);
    expect([await over("channel"), await over("installation")]).toEqual([2, 1]);
  });
});

describe("the webhooks' metrics", () => {
  test("count tries by what came of them, and tell how far a channel is behind", async () => {
    const metrics = await createMetrics();
    for (const outcome of ["delivered", "failed", "failed"]) metrics.onWebhook({ slug: "shop", outcome });
    const tries = (outcome: string) =>
      valueOf(metrics, `chat_agent_webhook_tries_total{channel="shop",outcome="${outcome}"}`);
    let levels = [{ channel: "shop", waiting: 7, oldestMs: 90_500, off: 1 }];
    const none = {
      openStreams: () => 0,
      threadsHeld: () => 0,
      repliesWaiting: () => 0,
      openFeeds: () => 0,
      modelNotes: () => [],
      lostLines: () => 0,
    };
    const nobody = async () => 0;
    const read = async () => levels;
    metrics.watch({
      ...none,
      waitingForPerson: nobody,
      withPerson: nobody,
      webhooks: read,
      messengers: read,
    });
    const level = (name: string) => valueOf(metrics, `chat_agent_webhooks_${name}{channel="shop"}`);
    expect(await valueOf(metrics, 'chat_agent_messengers_waiting{channel="shop"}')).toBe(7);
    expect(await valueOf(metrics, 'chat_agent_messengers_oldest_seconds{channel="shop"}')).toBe(90.5);
    expect([await tries("delivered"), await tries("failed")]).toEqual([1, 2]);
    expect([await level("waiting"), await level("oldest_seconds"), await level("off")]).toEqual([7, 90.5, 1]);
    levels = [];
    expect([await level("waiting"), await level("oldest_seconds"), await level("off")]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test("are made of what waits in the store", async () => {
    const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock: systemClock });
    onTestFinished(() => store.close());
    const [good, gone] = ["https://a.example/", "https://b.example/"].map((url) => ({ url, secret: "$S" }));
    const webhooks = [good, gone].filter((one) => one !== undefined);
    await store.putChannel(sampleChannel({ webhooks }));
    const event = { id: "msg_1", type: "run.ended" as const, atMs: 40_000, data: {} };
    const tells = [{ event, endpoints: webhooks.map(endpointOf) }];
    const told = await store.commit(sampleCommit({ opId: "tells", fence: "p:a", tells }));
    await store.outbox?.queue((told.type === "committed" && told.unqueued) || []);
    const sealed = { id: "msg_1", body: JSON.stringify({ timestamp: new Date(30_000).toISOString() }) };
    await store.outbox?.seal(
      { slug: "shop", endpoint: endpointOf(webhooks[1] ?? { url: "" }), uid: "t1", nth: "1" },
      sealed,
    );
    await store.outbox?.switchEndpoint("shop", endpointOf(webhooks[1] ?? { url: "" }), 50_000);
    expect(await webhookLevels(store, 60_000)).toEqual([
      { channel: "shop", waiting: 2, oldestMs: 30_000, off: 1 },
    ]);
    expect(await messengerLevels(store, 60_000)).toEqual([]);
    await store.putChannel(sampleChannel());
    expect(await webhookLevels(store, 60_000)).toEqual([]);

    const messenger = { type: "telegram" as const, settings: { botToken: "$T", secretToken: "$S" } };
    await store.putChannel(sampleChannel({ kind: "transport", messenger }));
    expect(await messengerLevels(store, 60_000)).toEqual([
      { channel: "shop", waiting: 0, oldestMs: 0, off: 0 },
    ]);
    const written = { ...event, id: "msg_2" };
    const to = [endpointOf(MESSENGER_ENDPOINT)];
    const second = await store.commit(
      sampleCommit({
        opId: "writes",
        rev: 1,
        claims: false,
        fence: "p:a",
        tells: [{ event: written, endpoints: to }],
      }),
    );
    await store.outbox?.queue((second.type === "committed" && second.unqueued) || []);
    expect(await messengerLevels(store, 60_000)).toEqual([
      { channel: "shop", waiting: 1, oldestMs: 20_000, off: 0 },
    ]);
  });
});

describe("the queue's metrics", () => {
  test("count the messages that wait and those that find it full, and tell how many streams wait now", async () => {
    const metrics = await createMetrics();
    const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock: systemClock });
    onTestFinished(() => store.close());
    const { model, server } = await openScriptedModel([[say("One"), hold()], "Two"]);
    const service = await startTestService({
      store: metrics.timeStore(store),
      model,
      env: { THREAD_QUEUE_MAX: "1" },
    });
    metrics.watch({
      openStreams: () => service.inFlight(),
      threadsHeld: () => service.threads.held(),
      repliesWaiting: () => service.threads.waiting(),
      openFeeds: () => service.threads.feeds(),
      modelNotes: () => [],
      lostLines: () => 0,
      waitingForPerson: () => countWaiting(store),
      webhooks: () => webhookLevels(store, Date.now()),
      messengers: () => messengerLevels(store, Date.now()),
      withPerson: () => countWithPerson(store, ["cli"]),
    });
    const send = (text: string) => sendMessage(service.url, { threadId: "t1", userId: "ada", text });

    const first = send("first");
    await server.held();
    const second = send("second");
    const waiting = () => valueOf(metrics, "chat_agent_replies_waiting");
    await expect.poll(waiting).toBe(1);
    expect((await send("third")).status).toBe(429);
    expect(await valueOf(metrics, "chat_agent_threads_held")).toBe(1);
    expect(await valueOf(metrics, "chat_agent_open_streams")).toBe(2);
    expect(await valueOf(metrics, "chat_agent_open_feeds")).toBe(0);
    expect(await valueOf(metrics, "chat_agent_waiting_for_person")).toBe(0);
    expect(await valueOf(metrics, "chat_agent_with_person")).toBe(0);
    const leave = new AbortController();
    const feed = await fetch(`${service.url}/v1/threads/t1/events?userId=ada`, {
      headers: { authorization: `Bearer ${TEST_KEY}` },
      signal: leave.signal,
    });
    expect(feed.status).toBe(200);
    expect(await valueOf(metrics, "chat_agent_open_feeds")).toBe(1);
    leave.abort();
    await expect.poll(() => valueOf(metrics, "chat_agent_open_feeds"), { timeout: 20_000 }).toBe(0);
    server.release();
    await Promise.all([first, second]);

    expect(await valueOf(metrics, 'chat_agent_queued_messages_total{result="waiting"}')).toBe(1);
    expect(await valueOf(metrics, 'chat_agent_queued_messages_total{result="full"}')).toBe(1);
    expect([await waiting(), await valueOf(metrics, "chat_agent_threads_held")]).toEqual([0, 0]);
  });
});

describe("METRICS_PORT", () => {
  test("that is taken is a fault of the configuration", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const opening = openMetricsPort(await createMetrics(), { host: "127.0.0.1", port });
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(`Cannot listen on METRICS_PORT ${port}: `);
  });
});

describe("timedMethods()", () => {
  test("times what answers later, by name and outcome, and passes on the rest", async () => {
    const told: [string, boolean][] = [];
    const part = timedMethods(
      {
        kind: "lamp",
        on: async (watts: number) => watts,
        off: async () => Promise.reject(new Error("stuck")),
        colour: () => "red",
      },
      (name, ms, result) => {
        expect(ms).toBeGreaterThanOrEqual(0);
        told.push([name, result.ok]);
      },
    );
    expect(await part.on(40)).toBe(40);
    await expect(part.off()).rejects.toThrow("stuck");
    expect([part.kind, part.colour()]).toEqual(["lamp", "red"]);
    expect(told).toEqual([
      ["on", true],
      ["off", false],
    ]);
  });
});
