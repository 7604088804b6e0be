// For src/webhooks/
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Channel } from "../../src/domain/channels/channel.ts";
import type { WebhookField } from "../../src/domain/channels/webhook.ts";
import { endpointOf } from "../../src/domain/threads/tellings.ts";
import { hashKey } from "../../src/keys.ts";
import type { Model } from "../../src/model.ts";
import { Secret } from "../../src/secret.ts";
import { threadUid } from "../../src/domain/threads/thread-uid.ts";
import { NewerRecord, UnreadableRecord } from "../../src/store.ts";
import type { Store } from "../../src/store.ts";
import { TEST_KEY, sendMessage, startTestService } from "../support/servers/service.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { storeKinds } from "../support/stores/store-kinds.ts";
import type { TestDatabase } from "../support/stores/store-kinds.ts";
import { sampleChannel } from "../stores/samples.ts";
import { SECRET, startReceiver } from "./receiver.ts";

const WAIT = { timeout: 30_000, interval: 20 };

describe.each(storeKinds)("webhooks on the $name store", ({ prepare }) => {
  let database: TestDatabase;
  let store: Store;

  beforeAll(async () => {
    database = await prepare();
  });
  beforeEach(async () => {
    await database.clear();
    store = await database.open();
    onTestFinished(() => store.close());
  });
  afterAll(() => database.remove());

  const cli = (webhooks: WebhookField[], more: Partial<Channel> = {}): Channel => ({
    ...sampleChannel({ slug: "cli" }),
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    ...more,
    webhooks,
  });

  const start = (channels: Channel[], env: Record<string, string> = { WEBHOOKS_PRIVATE: "on" }) =>
    startTestService({ store, channels, env });

  it("are told of both messages and of the run's end, in order, signed", async () => {
    const receiver = await startReceiver();
    const { url } = await start([cli([{ url: receiver.url, secret: SECRET }])]);
    await sendMessage(url, { threadId: "order 7", userId: "kim", text: "Hello" });
    await expect.poll(() => receiver.told.length, WAIT).toBe(3);
    expect(receiver.faults).toEqual([]);
    expect(receiver.told.map(({ type }) => type)).toEqual([
      "message.created",
      "message.created",
      "run.ended",
    ]);
    const [said, answered, ended] = receiver.told;
    expect(said?.data).toMatchObject({
      channel: "cli",
      threadId: "order 7",
      externalUserId: "kim",
      sequence: 1,
      message: { id: "1", role: "user", content: "Hello" },
    });
    expect(answered?.data).toMatchObject({ sequence: 2, message: { id: "2", role: "assistant" } });
    expect(ended?.data).toMatchObject({ sequence: 3, outcome: "done" });
    expect(ended?.data["inputTokens"]).toBeTypeOf("number");
    expect(ended?.data["outputTokens"]).toBeTypeOf("number");
    expect(ended?.data["elapsedMs"]).toBeTypeOf("number");
    expect(said?.data["userId"]).toBe(ended?.data["userId"]);
    expect(new Set(receiver.told.map(({ id }) => id)).size).toBe(3);
  });

  it("are told of a run's end which model of a chain answered, and of no model where there is no chain", async () => {
    const receiver = await startReceiver();
    const { model } = await openScriptedModel();
    const chained: Model = {
      ...model,
      async stream(request, wrote, signal) {
        const turn = await model.stream(request, wrote, signal);
        return request.model === "chain" ? { ...turn, by: "two/b", isOfChain: true } : turn;
      },
    };
    const webhooks: WebhookField[] = [{ url: receiver.url, secret: SECRET, events: ["run.ended"] }];
    const channels = [cli(webhooks, { agent: { model: "chain" } }), { ...cli(webhooks), slug: "other" }];
    const env = { WEBHOOKS_PRIVATE: "on" };
    const { url } = await startTestService({ store, model: chained, channels, env });
    for (const channel of ["cli", "other"])
      await sendMessage(url, { threadId: channel, userId: "kim", text: "Hello", channel });
    await expect.poll(() => receiver.told.length, WAIT).toBe(2);
    const endOf = (channel: string) => receiver.told.find(({ data }) => data.channel === channel)?.data;
    expect(endOf("cli")).toMatchObject({ outcome: "done", model: "two/b" });
    expect(endOf("other")).not.toHaveProperty("model");
  });

  it("are told of feedback that changes something, and it is in the day's statistics", async () => {
    const receiver = await startReceiver();
    const { url } = await start([
      cli([{ url: receiver.url, secret: SECRET, events: ["feedback.given", "run.ended"] }]),
    ]);
    await sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" });
    const rate = async (given: object) => {
      const { status } = await fetch(`${url}/v1/threads/t/feedback`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ userId: "kim", messageId: "2", ...given }),
      });
      expect(status).toBe(204);
    };
    for (const rating of ["up", "up", "down", null]) {
      await rate({ rating, ...(rating === "down" ? { comment: "No" } : {}) });
    }
    await expect.poll(() => receiver.told.length, WAIT).toBe(4);
    expect(receiver.faults).toEqual([]);
    const [, up, down, back] = receiver.told;
    const common = { channel: "cli", threadId: "t", externalUserId: "kim", messageId: "2" };
    expect(up).toMatchObject({ type: "feedback.given", data: { ...common, sequence: 2, rating: "up" } });
    expect(down?.data).toMatchObject({ ...common, sequence: 3, rating: "down", comment: "No" });
    expect(back?.data).toMatchObject({ ...common, sequence: 4, rating: null });
    const today = new Date().toISOString().slice(0, 10);
    await rate({ rating: "down" });
    const days = { from: "2020-01-01", to: today };
    const counts = async () => (await store.stats("cli", days)).at(-1)?.counts ?? {};
    await expect.poll(counts, WAIT).toMatchObject({ thumbsUp: 0, thumbsDown: 1 });
  });

  it("hear of what they asked for alone", async () => {
    const [all, ends] = [await startReceiver(), await startReceiver()];
    const { url } = await start([
      cli([
        { url: all.url, secret: SECRET },
        { url: ends.url, secret: SECRET, events: ["run.ended"] },
      ]),
    ]);
    await sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" });
    await expect.poll(() => all.taken().length, WAIT).toBe(3);
    await expect.poll(() => ends.taken().length, WAIT).toBe(1);
    expect(ends.told[0]?.type).toBe("run.ended");
    expect(all.told[2]?.raw).toBe(ends.told[0]?.raw);
  });

  it("are asked again after a failure, with the same id and body, and later events do not wait", async () => {
    const receiver = await startReceiver(({ data }) => (data.sequence === 1 ? 500 : 204));
    // Time stands still: on a busy machine the second try would be over before the receiver takes it.
    let nowMs = Date.now();
    const clock = { now: () => nowMs, elapsed: () => performance.now() };
    const service = await startTestService({
      store,
      clock,
      channels: [cli([{ url: receiver.url, secret: SECRET }])],
      env: { WEBHOOKS_PRIVATE: "on" },
    });
    await sendMessage(service.url, { threadId: "t", userId: "kim", text: "Hello" });
    await expect.poll(() => receiver.taken().length, WAIT).toBe(2);
    receiver.answer(() => 204);
    nowMs += 7_000;
    await expect.poll(() => receiver.taken().length, WAIT).toBe(3);
    const [first, again] = receiver.told.filter(({ data }) => data.sequence === 1);
    expect(again?.raw).toBe(first?.raw);
    expect(again?.id).toBe(first?.id);
    expect(again?.signature).not.toBe(first?.signature);
  });

  it("that were away for an hour are told everything when they are back, by the same ids", async () => {
    const receiver = await startReceiver(() => 503);
    const { model } = await openScriptedModel(() => "Hi");
    const channels = [cli([{ url: receiver.url, secret: SECRET }])];
    const service = await startTestService({ store, model, channels, env: { WEBHOOKS_PRIVATE: "on" } });
    // The receiver, too, takes no timestamp of another time.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const beganMs = Date.now();
    const ids = () => new Set(receiver.told.map(({ id }) => id)).size;
    const { endpoint } = endpointFor(receiver.url);
    const nextDueMs = () => store.outbox?.nextDueMs("cli", endpoint);
    // Each message wakes the deliveries: what is due by then is tried again, too.
    for (const [nth, minutes] of [0, 0.2, 20, 59].entries()) {
      vi.setSystemTime(beganMs + minutes * 60_000);
      await sendMessage(service.url, { threadId: "t", userId: "kim", text: `At ${minutes}` });
      await expect.poll(ids, WAIT).toBe(3 * (nth + 1));
      await expect.poll(nextDueMs, WAIT).toBeGreaterThan(Date.now());
    }
    receiver.answer(() => 204);
    vi.setSystemTime(beganMs + 4 * 3_600_000);
    await sendMessage(service.url, { threadId: "t", userId: "kim", text: "Back" });
    await expect.poll(() => receiver.taken().length, WAIT).toBe(15);
    const sequences = receiver.taken().map(({ data }) => Number(data.sequence));
    expect(sequences.sort((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
    for (const { id, raw } of receiver.taken()) {
      expect(new Set(receiver.told.filter((one) => one.id === id).map((one) => one.raw))).toEqual(
        new Set([raw]),
      );
    }
    const waiting = async () =>
      (await store.outbox?.level("cli", endpointFor(receiver.url).endpoint))?.waiting;
    await expect.poll(waiting, WAIT).toBe(0);
  });

  it.each([302, 410, 500])("that answer %i have not taken it", async (status) => {
    const receiver = await startReceiver(() => status);
    await start([cli([{ url: receiver.url, secret: SECRET, events: ["run.ended"] }])]).then(({ url }) =>
      sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" }),
    );
    const [{ endpoint }] = [endpointFor(receiver.url)];
    await expect
      .poll(async () => (await store.outbox?.endpoint("cli", endpoint))?.deliveries.length, WAIT)
      .toBe(1);
    const state = await store.outbox?.endpoint("cli", endpoint);
    expect(state?.waiting).toBe(1);
    expect(state?.deliveries[0]).toMatchObject({ event: "run.ended", status, attempt: 1 });
    if (status === 410) await expect.poll(offSince, WAIT).not.toBeNull();
    else expect(await offSince()).toBeNull();
    expect(receiver.told).toHaveLength(1);

    async function offSince() {
      return (await store.outbox?.endpoint("cli", endpoint))?.offSinceMs;
    }
  });

  it("that hang or fail cost the others nothing", async () => {
    const [hangs, fails, good] = [
      await startReceiver(() => null),
      await startReceiver(() => 503),
      await startReceiver(),
    ];
    const { url } = await start([cli([hangs, fails, good].map((one) => ({ url: one.url, secret: SECRET })))]);
    const said = Array.from({ length: 20 }, (_, i) =>
      sendMessage(url, { threadId: `t${i}`, userId: "kim", text: "Hello" }),
    );
    await Promise.all(said);
    await expect.poll(() => good.taken().length, WAIT).toBe(60);
    expect(hangs.taken()).toEqual([]);
    for (const thread of new Set(good.told.map(({ data }) => data["id"]))) {
      const sequences = good.told
        .filter(({ data }) => data["id"] === thread)
        .map(({ data }) => data.sequence);
      expect(sequences).toEqual([1, 2, 3]);
    }
  });

  it("hear of what comes after a message that is damaged, which is tried again as what they do not take", async () => {
    const receiver = await startReceiver();
    let reads = 0;
    const damaged: Store = {
      ...store,
      history() {
        reads++;
        return Promise.reject(new UnreadableRecord("message", "t", "it is no object"));
      },
    };
    const channels = [cli([{ url: receiver.url, secret: SECRET }])];
    const env = { WEBHOOKS_PRIVATE: "on" };
    // Time stands still: the second tries are not due.
    const nowMs = Date.now();
    const clock = { now: () => nowMs, elapsed: () => performance.now() };
    const { url } = await startTestService({ store: damaged, clock, channels, env });
    await sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" });
    await expect.poll(() => receiver.taken().map(({ type }) => type), WAIT).toEqual(["run.ended"]);
    const state = () => store.outbox?.endpoint("cli", endpointFor(receiver.url).endpoint);
    await expect.poll(async () => (await state())?.waiting, WAIT).toBe(2);
    const faults = (await state())?.deliveries.filter(({ fault }) => fault !== null);
    const failed = { event: "message.created", attempt: 1, status: null };
    const fault = "what it tells of cannot be read";
    expect(faults).toMatchObject([
      { ...failed, fault },
      { ...failed, fault },
    ]);
    expect(reads).toBe(2);
  });

  it("hear of a thread in its order when it can be read again, and of others meanwhile, without haste", async () => {
    const receiver = await startReceiver();
    let refusals = 0;
    let isLocked = true;
    const locked: Store = {
      ...store,
      history(uid, page) {
        if (!isLocked || uid !== threadUid("cli", "kim", "t")) return store.history(uid, page);
        refusals++;
        return Promise.reject(new NewerRecord("message", uid, 9));
      },
    };
    const channels = [cli([{ url: receiver.url, secret: SECRET }])];
    const env = { WEBHOOKS_PRIVATE: "on" };
    const { url } = await startTestService({ store: locked, channels, env });
    await sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" });
    await expect.poll(() => refusals, WAIT).toBeGreaterThan(0);
    await sendMessage(url, { threadId: "t2", userId: "kim", text: "Hello" });
    await expect.poll(() => receiver.taken().length, WAIT).toBe(3);
    expect(refusals).toBeLessThan(20);
    isLocked = false;
    await expect.poll(() => receiver.taken().length, WAIT).toBe(6);
    expect(receiver.told.slice(3).map(({ data }) => [data["threadId"], data.sequence])).toEqual([
      ["t", 1],
      ["t", 2],
      ["t", 3],
    ]);
  });

  it("are not called at a private address, by a literal, a name or neither", async () => {
    const receiver = await startReceiver();
    const named = receiver.url.replace("127.0.0.1", "localhost");
    const { url } = await start(
      [
        cli(
          [receiver.url, named]
            .map((one) => ({ url: one, secret: SECRET, events: ["run.ended"] as const }))
            .map((one) => ({ ...one, events: [...one.events] })),
        ),
      ],
      {},
    );
    await sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" });
    for (const one of [receiver.url, named]) {
      await expect
        .poll(
          async () => (await store.outbox?.endpoint("cli", endpointFor(one).endpoint))?.deliveries[0]?.fault,
          WAIT,
        )
        .toBe("its address is not public");
    }
    expect(receiver.told).toEqual([]);
  });

  it("write nothing where a channel has none", async () => {
    const { url } = await start([cli([])]);
    await sendMessage(url, { threadId: "t", userId: "kim", text: "Hello" });
    expect(await store.outbox?.endpoints("cli")).toEqual([]);
    const share = { rank: 0, of: 1 };
    expect(
      await store.outbox?.unqueued({ share, slugs: ["cli"], beforeMs: Date.now() + 60_000, limit: 10 }),
    ).toEqual([]);
  });

  it("hear of a deletion by ids alone, and of nothing else of what was deleted", async () => {
    const receiver = await startReceiver(() => 500);
    const service = await start([cli([{ url: receiver.url, secret: SECRET }])]);
    await sendMessage(service.url, { threadId: "t", userId: "kim", text: "Hello" });
    await expect.poll(() => receiver.told.length, WAIT).toBe(3);
    const id = String(receiver.told[0]?.data["id"]);
    const userId = String(receiver.told[0]?.data["userId"]);
    receiver.answer(() => 204);
    await service.threads.forgetting.thread("cli", id);
    await expect.poll(() => receiver.taken().length, WAIT).toBe(1);
    await service.threads.forgetting.user("cli", userId);
    await expect.poll(() => receiver.taken().length, WAIT).toBe(2);
    const ids = { channel: "cli", userId, externalUserId: "kim" };
    expect(receiver.taken().map(({ type, data }) => ({ type, data }))).toEqual([
      { type: "thread.deleted", data: { ...ids, threadId: "t", id, sequence: 4 } },
      { type: "user.deleted", data: ids },
    ]);
    const { endpoint } = endpointFor(receiver.url);
    expect(await store.outbox?.replay("cli", endpoint)).toBe(3);
    await expect.poll(async () => (await store.outbox?.endpoint("cli", endpoint))?.waiting, WAIT).toBe(0);
    expect(receiver.taken()).toHaveLength(2);
  });

  it("hear who was identified", async () => {
    const receiver = await startReceiver();
    const web = sampleChannel({
      slug: "shop",
      secretKeyHash: hashKey(new Secret("sk_shop")),
      webhooks: [{ url: receiver.url, secret: SECRET, events: ["user.identified"] }],
    });
    const { url } = await start([cli([]), web]);
    const minted = await fetch(`${url}/v1/widget/visitors`, {
      method: "POST",
      headers: { "x-publishable-key": web.publishableKey ?? "", origin: web.allowedOrigins[0] ?? "" },
    });
    const { visitorToken } = (await minted.json()) as { visitorToken: string };
    const identified = await fetch(`${url}/v1/channels/shop/identify`, {
      method: "POST",
      headers: { authorization: "Bearer sk_shop", "content-type": "application/json" },
      body: JSON.stringify({ visitorToken, externalUserId: "kim" }),
    });
    expect({ minted: minted.status, identified: identified.status }).toEqual({
      minted: 201,
      identified: 200,
    });
    await expect.poll(() => receiver.told.length, WAIT).toBe(1);
    expect(receiver.told[0]).toMatchObject({
      type: "user.identified",
      data: { channel: "shop", externalUserId: "kim" },
    });
  });
});

function endpointFor(url: string) {
  return { endpoint: endpointOf({ url }) };
}
