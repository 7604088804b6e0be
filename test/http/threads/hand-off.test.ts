// For src/threads/handoff/, src/operators/threads/hand-off.ts, src/operators/threads/answerer.ts, src/http/operator-api/hand-off.ts
import { describe, expect, test } from "vitest";
import { countWithPerson } from "../../../src/operators/stats/count-with-person.ts";
import { WEEKDAYS } from "../../../src/domain/channels/hours.ts";
import { startOperated } from "../operator-api/operators-service.ts";
import { ORIGIN, TRANSPORT_KEY, shop } from "../service.ts";

const WITHIN = { timeout: 20_000, interval: 10 };
const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };

async function open({ enabled = true } = {}) {
  const service = await startOperated();
  await service.store.putChannel({
    ...shop,
    handoff: { enabled, message: "A person comes.", waitSeconds: 60 },
  });
  await service.renew();
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { "x-visitor-token": token };
  const own = `/v1/widget/threads/${threadId}`;
  const operated = `/channels/shop/threads/${threadId}`;
  return {
    ...service,
    threadId,
    say: (text: string) => service.post("/v1/widget/messages", { threadId, text }, { headers }),
    visit: (path: string, body: unknown = "") => service.post(`${own}${path}`, body, { headers }),
    read: (path: string, query = "") =>
      service.ask({ path: `${own}${path}`, query, headers: { origin: ORIGIN, ...headers } }),
    act: (name: string, act: string, body?: unknown, method = "POST") =>
      service.as(name, method, `${operated}/${act}`, body),
  };
}

describe("a hand-off", () => {
  test("from the visitor's asking to the assistant's return, as each side sees it", async () => {
    const { say, visit, read, act, agent, store } = await open();
    const feed = await read("/events", "after=");
    expect((await visit("/handoff")).status).toBe(204);
    const waiting = await say("Hello?");
    expect(await waiting.lines()).toEqual([{ type: "done", elapsedMs: 0, handledBy: "person" }]);
    const taken = await act("agent", "take", { epoch: 1 });
    expect([taken.status, await taken.json()]).toEqual([200, { epoch: 2 }]);
    expect(await countWithPerson(store, ["shop"])).toBe(1);
    const said = await act("agent", "messages", { text: "Hi", epoch: 2, clientMessageId: "k" });
    expect([said.status, await said.json()]).toEqual([201, { id: "2" }]);
    const again = await act("agent", "messages", { text: "Hi", epoch: 1, clientMessageId: "k" });
    expect([again.status, await again.json()]).toEqual([201, { id: "2" }]);
    const other = await act("agent", "messages", { text: "Ho", epoch: 2, clientMessageId: "k" });
    expect(other.status).toBe(422);
    await expect
      .poll(async () => {
        expect((await act("agent", "typing")).status).toBe(204);
        return feed.soFar().at(-1);
      }, WITHIN)
      .toEqual({ type: "typing", name: "agent" });
    const late = await read("/events", "after=1");
    await expect
      .poll(() => late.soFar(), WITHIN)
      .toMatchObject([
        { type: "state", state: "with_person", with: "agent" },
        { type: "message", item: { id: "2" } },
      ]);
    const back = await act("agent", "return", { epoch: 2, note: "Be kind" });
    expect([back.status, await back.json()]).toEqual([200, { epoch: 3 }]);
    expect(await countWithPerson(store, ["shop"])).toBe(0);
    await expect.poll(() => feed.soFar().at(-1), WITHIN).toEqual({ type: "state", state: "idle" });
    expect(feed.soFar().filter(({ type }) => type !== "typing")).toMatchObject([
      { type: "state", state: "idle" },
      { type: "state", state: "waiting_for_person", waitingSince: expect.any(Number) as number },
      { type: "message", item: { id: "1", role: "user", content: "Hello?" } },
      { type: "state", state: "with_person", with: "agent" },
      {
        type: "message",
        item: { id: "2", role: "assistant", content: "Hi", author: { type: "person", name: "agent" } },
      },
      { type: "state", state: "idle" },
    ]);
    const reply = await say("Thanks");
    const turn = await agent.turn();
    expect(turn.turn.handedBack).toMatchObject({ name: "agent", note: "Be kind" });
    turn.write("You are welcome");
    turn.finish();
    expect((await reply.lines()).at(-1)).not.toHaveProperty("handledBy");
    const { items } = (await (await read("/messages")).json()) as { items: object[] };
    expect(items[1]).toMatchObject({ author: { type: "person", name: "agent" } });
    expect(items[2]).not.toHaveProperty("handedBack");
    const { items: audit } = await store.audit({ limit: 10, after: null, sinceMs: 0 });
    expect(audit.map(({ entry }) => entry.action).reverse()).toEqual([
      "handoff.take",
      "handoff.message",
      "handoff.message",
      "handoff.message",
      "handoff.return",
    ]);
  });

  test("by the model: its words and done, and no word after that", async () => {
    const { say, agent } = await open();
    const reply = await say("A person!");
    (await agent.turn()).handOff("Asked for one", "Nothing yet");
    expect(await reply.lines()).toMatchObject([
      { type: "delta", text: "A person comes." },
      { type: "done", handledBy: "person" },
    ]);
    expect(await (await say("Hello?")).lines()).toMatchObject([{ type: "done", handledBy: "person" }]);
    expect(agent.turns).toBe(1);
  });

  test("is cancelled by the visitor, with and without a body and a reason", async () => {
    const { visit, read } = await open();
    for (const body of ["", {}, { reason: "A refund" }]) {
      expect((await visit("/handoff", body)).status).toBe(204);
      expect((await visit("/handoff/cancel")).status).toBe(204);
    }
    expect((await visit("/handoff/cancel")).status).toBe(204);
    expect((await visit("/handoff", { reason: 7 })).status).toBe(422);
    const feed = await read("/events");
    expect(feed.soFar()).toEqual([{ type: "state", state: "idle" }]);
    feed.leave();
  });

  test("is refused where the channel has none, to who did not take, and with an old epoch", async () => {
    const without = await open({ enabled: false });
    expect((await without.visit("/handoff")).status).toBe(409);
    expect((await without.visit("/handoff/cancel")).status).toBe(409);
    (await without.say("Hello")).leave();
    expect((await without.act("agent", "take", { epoch: 0 })).status).toBe(409);

    const { visit, act } = await open();
    await visit("/handoff");
    for (const [end, body] of [
      ["messages", { text: "Hi", epoch: 1 }],
      ["typing", undefined],
      ["return", { epoch: 1 }],
      ["close", { epoch: 1 }],
      ["take", { epoch: 0 }],
    ] as const) {
      expect((await act("agent", end, body)).status).toBe(409);
    }
    expect((await act("agent", "take", { epoch: 1 })).status).toBe(200);
    expect((await act("shop-agent", "messages", { text: "Hi", epoch: 2 })).status).toBe(409);
    expect((await act("auditor", "take", { epoch: 2 })).status).toBe(403);
    const closed = await act("agent", "close", { epoch: 2 });
    expect(await closed.json()).toEqual({ epoch: 3 });
  });

  test("is in the thread's head and in the lists, by activity, without a text", async () => {
    const { visit, act, as, clock, threadId, say, agent } = await open();
    const head = async (name: string) =>
      (await (await as(name, "GET", `/channels/shop/threads/${threadId}`)).json()) as Record<string, unknown>;
    const reply = await say("Hello");
    (await agent.turn()).finish();
    await reply.lines();
    expect(await head("agent")).toMatchObject({ epoch: 0, state: "idle" });
    expect(await head("agent")).not.toHaveProperty("handoff");
    clock.nowMs += 60_000;
    await visit("/handoff", { reason: "A refund" });
    const waitingSince = clock.nowMs;
    const handoff = { askedBy: "visitor", waitingSince };
    expect(await head("agent")).toMatchObject({
      state: "waiting_for_person",
      epoch: 1,
      handoff: { ...handoff, reason: "A refund" },
      updatedAt: waitingSince,
    });
    expect((await head("auditor"))["handoff"]).toEqual(handoff);
    const list = await as("agent", "GET", "/channels/shop/threads?state=waiting_for_person");
    expect(((await list.json()) as { items: unknown[] }).items).toMatchObject([
      { id: threadId, epoch: 1, handoff, updatedAt: waitingSince },
    ]);
    await act("agent", "take", { epoch: 1 });
    expect(await head("agent")).toMatchObject({ epoch: 2, handoff: { askedBy: "visitor", with: "agent" } });
    await act("agent", "close", { epoch: 2 });
    expect(await head("agent")).toMatchObject({ epoch: 3, state: "idle" });
    expect(await head("agent")).not.toHaveProperty("handoff");
  });

  test("is asked for by a transport", async () => {
    const { store, renew, post, agent } = await open();
    const path = "/v1/threads/chat-1/handoff";
    const ask = (body: object) => post(path, body, { headers: bearer });
    expect((await ask({ userId: "ada" })).status).toBe(404);
    const reply = await post(
      "/v1/messages",
      { threadId: "chat-1", userId: "ada", text: "Hi" },
      { headers: bearer },
    );
    await agent.turn();
    expect((await ask({ userId: "ada" })).status).toBe(409);
    const cli = await store.channel("cli");
    await store.putChannel({ ...cli!, handoff: { enabled: true } });
    await renew();
    const [user] = await store.users("cli");
    await store.flagUser("cli", user!.userId, { blocked: true });
    expect((await ask({ userId: "ada" })).status).toBe(403);
    await store.flagUser("cli", user!.userId, { blocked: false });
    expect((await ask({ userId: "ada", reason: "Wants a refund" })).status).toBe(204);
    expect((await reply.lines()).at(-1)).toMatchObject({ type: "done", handledBy: "person" });
  });
});

describe("outside the hours", () => {
  const hours = { timeZone: "Europe/Berlin", week: { mon: ["09:00-17:00"] } };
  const ALWAYS = Object.fromEntries(WEEKDAYS.map((day) => [day, ["00:00-24:00"]]));

  test("nobody is asked for, who waits goes on waiting, and an operator may take a thread", async () => {
    const { visit, act, store, renew, clock, post } = await open();
    /** The channels' people are there on these days. */
    const comeOn = async (week: Record<string, string[]>) => {
      for (const slug of ["shop", "cli"]) {
        const channel = await store.channel(slug);
        await store.putChannel({ ...channel!, handoff: { enabled: true, hours: { timeZone: "UTC", week } } });
      }
      await renew();
    };
    const today = WEEKDAYS[new Date(clock.nowMs).getUTCDay()] ?? "sun";
    const { [today]: _, ...otherDays } = ALWAYS;
    await comeOn(ALWAYS);
    expect((await visit("/handoff")).status).toBe(204);
    await comeOn(otherDays);
    expect((await act("agent", "take", { epoch: 1 })).status).toBe(200);
    expect((await act("agent", "close", { epoch: 2 })).status).toBe(200);
    expect((await visit("/handoff")).status).toBe(409);

    const said = { threadId: "chat-1", userId: "ada", text: "Hi" };
    (await post("/v1/messages", said, { headers: bearer })).leave();
    const asked = await post("/v1/threads/chat-1/handoff", { userId: "ada" }, { headers: bearer });
    const tomorrow = new Date(clock.nowMs + 86_400_000).toISOString().slice(0, 10);
    expect([asked.status, await asked.text()]).toEqual([
      409,
      expect.stringContaining(`again at ${tomorrow}T00:00:00.000Z`) as string,
    ]);
  });

  test("what is no hours is refused, with what is wrong", async () => {
    const { as } = await open();
    for (const [wrong, says] of [
      [{ ...hours, timeZone: "Mars/Olympus" }, "timeZone"],
      [{ ...hours, week: { mon: ["17:00-09:00"] } }, "week.mon"],
      [{ ...hours, week: { moonday: ["09:00-17:00"] } }, "moonday"],
    ] as const) {
      const got = await as("admin", "PATCH", "/channels/shop", { handoff: { enabled: true, hours: wrong } });
      expect([got.status, await got.text()]).toEqual([422, expect.stringContaining(says) as string]);
    }
    const got = await as("admin", "PATCH", "/channels/shop", { handoff: { enabled: true, hours } });
    expect([got.status, await got.json()]).toEqual([
      200,
      expect.objectContaining({ handoff: { enabled: true, hours } }) as object,
    ]);
  });
});

describe("queues, and colleagues", () => {
  async function withQueues() {
    const at = await open();
    const handoff = { enabled: true, message: "A person comes.", queues: ["returns", "sales"] };
    await at.store.putChannel({ ...shop, handoff });
    await at.renew();
    const shown = async (name = "agent", query = "") => {
      const got = await at.as(name, "GET", `/channels/shop/threads${query}`);
      return ((await got.json()) as { items: Record<string, unknown>[] }).items;
    };
    return { ...at, shown };
  }

  test("the visitor asks for one, an operator moves it to another, and to a colleague", async () => {
    const { visit, act, as, shown } = await withQueues();
    expect((await visit("/handoff", { queue: "lost" })).status).toBe(422);
    expect((await visit("/handoff", { queue: "returns" })).status).toBe(204);
    expect(await shown()).toMatchObject([{ state: "waiting_for_person", queue: "returns" }]);
    expect(await shown("agent", "?queue=sales")).toEqual([]);
    expect(await shown("auditor")).toEqual([expect.not.objectContaining({ queue: "returns" })]);
    expect((await as("auditor", "GET", "/channels/shop/threads?queue=returns")).status).toBe(403);
    const moved = await act("agent", "assign", { queue: "sales", epoch: 1 });
    expect([moved.status, await moved.json()]).toEqual([200, { epoch: 2 }]);
    expect(await shown("agent", "?queue=sales")).toHaveLength(1);
    expect((await act("agent", "assign", { queue: "returns", epoch: 1 })).status).toBe(409);
    const given = await act("agent", "assign", { operator: "shop-agent", epoch: 2 });
    expect(await given.json()).toEqual({ epoch: 3 });
    expect(await shown()).toMatchObject([{ state: "with_person", assignedTo: "shop-agent", queue: "sales" }]);
    expect((await act("agent", "messages", { text: "Hi", epoch: 3 })).status).toBe(409);
    expect((await act("shop-agent", "messages", { text: "Hi", epoch: 3 })).status).toBe(201);
    expect((await act("shop-agent", "assign", { queue: "returns", epoch: 3 })).status).toBe(200);
    expect(await shown()).toMatchObject([{ state: "waiting_for_person", queue: "returns" }]);
  });

  test("nobody is assigned who may not answer there, and no thread to a queue that has no use for a person", async () => {
    const { visit, act, as } = await withQueues();
    const who = await as("shop-agent", "GET", "/channels/shop/operators");
    const names = ["admin", "agent", "shop-admin", "shop-agent"];
    expect(await who.json()).toEqual({ items: names.map((name) => ({ name })) });
    await visit("/handoff");
    for (const wrong of [
      { operator: "auditor" },
      { operator: "nobody" },
      { queue: "lost" },
      { operator: "agent", queue: "sales" },
      {},
    ])
      expect((await act("agent", "assign", { ...wrong, epoch: 1 })).status).toBe(422);
    await visit("/handoff/cancel");
    expect((await act("agent", "assign", { queue: "sales", epoch: 2 })).status).toBe(409);
    const taken = await act("agent", "assign", { operator: "agent", epoch: 2 });
    expect(taken.status).toBe(200);
  });

  test("the visitor, and the model, read the operator's display name; lists and the audit have the name", async () => {
    const { visit, act, as, read, say, agent, shown } = await withQueues();
    const named = (name: string, displayName: string | null) =>
      as("admin", "PATCH", `/operators/${name}`, { displayName });
    expect((await named("agent", "Kim")).status).toBe(200);
    for (const taken of ["Kim", "KIM", "shop-agent"]) expect((await named("admin", taken)).status).toBe(409);
    await visit("/handoff");
    expect((await act("agent", "take", { epoch: 1 })).status).toBe(200);
    expect((await act("agent", "messages", { text: "Hi", epoch: 2 })).status).toBe(201);
    const feed = await read("/events", "after=");
    await expect
      .poll(() => feed.soFar(), WITHIN)
      .toMatchObject([
        { type: "state", state: "with_person", with: "Kim" },
        { type: "message", item: { content: "Hi", author: { type: "person", name: "Kim" } } },
      ]);
    feed.leave();
    expect(await shown()).toMatchObject([
      { assignedTo: "agent", handoff: { with: "agent", shownAs: "Kim" } },
    ]);
    expect((await shown())[0]?.["handoff"]).not.toHaveProperty("answerBy");
    await (await say("And now?")).lines();
    expect(await shown()).toMatchObject([{ handoff: { answerBy: expect.any(Number) as number } }]);
    expect((await act("agent", "return", { epoch: 2 })).status).toBe(200);
    const reply = await say("Thanks");
    const turn = await agent.turn();
    expect(turn.turn.handedBack).toMatchObject({ name: "Kim" });
    turn.finish();
    await reply.lines();
    expect((await named("agent", null)).status).toBe(200);
    const own = { queues: ["returns"] };
    expect((await as("admin", "PATCH", "/operators/agent", own)).status).toBe(200);
    const me = (await (await as("agent", "GET", "/me")).json()) as object;
    expect(me).toMatchObject(own);
    expect(me).not.toHaveProperty("displayName");
    const none = await as("admin", "PATCH", "/operators/agent", { queues: null });
    expect(await none.json()).not.toHaveProperty("queues");
  });

  test("the model hands over to one", async () => {
    const { say, agent, shown } = await withQueues();
    const reply = await say("My mug broke");
    const turn = await agent.turn();
    turn.handOff("A refund", "A mug broke", "returns");
    await reply.lines();
    expect(await shown()).toMatchObject([{ state: "waiting_for_person", queue: "returns" }]);
  });
});

describe("G22: a visitor who asks for a person in many threads", () => {
  async function enter() {
    const at = await open();
    const token = await at.newToken();
    const headers = { "x-visitor-token": token };
    const newThreads = (many: number) => Promise.all(Array.from({ length: many }, () => at.newThread(token)));
    const ask = async (id: string, act = "handoff") => {
      const got = await at.post(`/v1/widget/threads/${id}/${act}`, "", { headers });
      return [got.status, got.headers["retry-after"]];
    };
    return { ...at, newThreads, ask };
  }
  const taken = [204, undefined];
  const refused = [429, "60"];

  test("waits in three of them, asked at once; other visitors are not kept out", async () => {
    const { newThreads, ask, visit } = await enter();
    const answers = await Promise.all((await newThreads(9)).map((id) => ask(id)));
    expect(answers).toEqual([taken, taken, taken, ...Array<unknown>(6).fill(refused)]);
    expect((await visit("/handoff")).status).toBe(204);
  });

  test("may repeat what was asked, and ask anew where the waiting has ended", async () => {
    const { newThreads, ask } = await enter();
    const [a = "", b = "", c = "", d = ""] = await newThreads(4);
    for (const id of [a, b, c]) expect(await ask(id)).toEqual(taken);
    expect(await ask(d)).toEqual(refused);
    expect(await ask(b)).toEqual(taken);
    expect(await ask(a, "handoff/cancel")).toEqual(taken);
    expect(await ask(d)).toEqual(taken);
    expect(await ask(a)).toEqual(refused);
  });
});

describe("what a visitor is told of people, and leaves for them", () => {
  const changes = async (got: Promise<{ json(): Promise<unknown> }>) =>
    (await (await got).json()) as { items: object[]; address?: string; rating?: object | null };

  test("who answered when, by the name and with the picture that visitors see; operators see more", async () => {
    const { say, visit, read, act, as, renew } = await open();
    const picture = "data:image/png;base64,iVBORw0KGgo=";
    await as("admin", "PATCH", "/operators/agent", { displayName: "Kim", picture });
    await renew();
    expect(await changes(read("/handoffs"))).toEqual({ items: [] });
    await visit("/handoff", { reason: "A refund" });
    await say("Hello?");
    await act("agent", "take", { epoch: 1 });
    await act("agent", "close", { epoch: 2 });
    const at = expect.any(Number) as number;
    expect(await changes(read("/handoffs"))).toEqual({
      items: [
        { at, how: "asked" },
        { at, how: "taken", name: "Kim", picture },
        { at, how: "closed", name: "Kim", picture },
      ],
      rating: null,
    });
    expect((await visit("/rating", { score: 0 })).status).toBe(422);
    expect((await visit("/rating", { score: 5, comment: " " })).status).toBe(204);
    expect((await visit("/address", { address: "no address" })).status).toBe(422);
    expect((await visit("/address", { address: "ada@example.com" })).status).toBe(204);
    expect(await changes(read("/handoffs"))).toMatchObject({
      address: "ada@example.com",
      rating: { score: 5 },
    });
    expect(await changes(act("agent", "handoffs", undefined, "GET"))).toMatchObject({
      items: [
        { how: "asked", reason: "A refund" },
        { how: "taken", by: "agent", shownAs: "Kim" },
        { how: "closed", by: "agent" },
      ],
      address: "ada@example.com",
      ratings: [{ score: 5, by: "agent" }],
    });
    expect((await act("auditor", "handoffs", undefined, "GET")).status).toBe(403);
  });

  test("no rating is asked for before a person has ended a hand-off, nor where the channel asks for none", async () => {
    const { say, visit, read, act, store, renew } = await open();
    expect((await visit("/rating", { score: 5 })).status).toBe(409);
    await visit("/handoff");
    await say("Hello?");
    await act("agent", "take", { epoch: 1 });
    await act("agent", "return", { epoch: 2 });
    expect(await changes(read("/handoffs"))).toHaveProperty("rating", null);
    await store.putChannel({ ...shop, handoff: { enabled: true, rating: false } });
    await renew();
    expect(await changes(read("/handoffs"))).not.toHaveProperty("rating");
  });
});
