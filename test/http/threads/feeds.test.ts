// For src/http/feeds/, src/threads/feeds/
import { describe, expect, test, vi } from "vitest";
import { readVisitorToken } from "../../../src/domain/people/visitor-token.ts";
import { imageOf, TINY_PNG } from "../../support/images.ts";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY, shop, startService } from "../service.ts";
import type { Got, Sent, Service } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
const WITHIN = { timeout: 20_000, interval: 10 };

interface Front {
  service: Service;
  say: (text: string, clientMessageId?: string, attachments?: object[]) => Promise<Got>;
  /** The request of the thread's feed. */
  events: (query?: string) => Partial<Sent>;
}

async function server(): Promise<Front> {
  const service = await startService();
  return {
    service,
    say: (text, clientMessageId, attachments) =>
      service.post(
        "/v1/messages",
        { threadId: "chat 1/a", userId: "ada", text, clientMessageId, attachments },
        { headers: bearer },
      ),
    events: (query = "") => ({
      path: `/v1/threads/${encodeURIComponent("chat 1/a")}/events`,
      query: `userId=ada&${query}`,
      headers: bearer,
    }),
  };
}

async function widget(
  env: Record<string, string> = {},
): Promise<Front & { token: string; threadId: string }> {
  const service = await startService(env);
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { "x-visitor-token": token };
  return {
    service,
    token,
    threadId,
    say: (text, clientMessageId, attachments) =>
      service.post("/v1/widget/messages", { threadId, text, clientMessageId, attachments }, { headers }),
    events: (query = "") => ({
      path: `/v1/widget/threads/${threadId}/events`,
      query,
      headers: { origin: ORIGIN, ...headers },
    }),
  };
}

async function answer({ service }: Front, reply: Got, text = "Yes"): Promise<void> {
  const turn = await service.agent.turn();
  turn.write(text);
  turn.finish();
  await reply.text();
}

describe.each([
  ["GET /v1/threads/:threadId/events", server],
  ["GET /v1/widget/threads/:id/events", widget],
])("%s", (_name, open) => {
  test("tells the state, what is behind `after`, and what comes, a line each", async () => {
    const front = await open();
    await answer(front, await front.say("One"));
    const feed = await front.service.ask(front.events("after=1"));
    expect(feed.status).toBe(200);
    expect(feed.headers).toMatchObject({ "content-type": "application/x-ndjson" });
    expect(feed.headers["content-encoding"]).toBeUndefined();
    const said = await front.say("Two\u2028Three", "m-2");
    await answer(front, said);
    await expect.poll(() => feed.soFar().length, WITHIN).toBe(6);
    expect(feed.soFar()).toMatchObject([
      { type: "state", state: "idle" },
      { type: "message", item: { id: "2", role: "assistant", content: "Yes" } },
      { type: "message", item: { id: "3", role: "user", content: "Two\u2028Three", clientMessageId: "m-2" } },
      { type: "state", state: "running", runId: said.headers["x-run-id"] },
      { type: "message", item: { id: "4", role: "assistant" } },
      { type: "state", state: "idle" },
    ]);
    expect(feed.soFar()[0]).not.toHaveProperty("runId");
  });

  test("an `after` that is unknown is reset, and the feed goes on", async () => {
    const front = await open();
    await answer(front, await front.say("One"));
    const feed = await front.service.ask(front.events("after=nobody"));
    await answer(front, await front.say("Two"));
    await expect.poll(() => feed.soFar().length, WITHIN).toBe(6);
    expect(feed.soFar().slice(0, 3)).toMatchObject([
      { type: "state" },
      { type: "reset" },
      { type: "message", item: { id: "3" } },
    ]);
  });

  test("an item with images is as the history has it, behind `after` and as it comes", async () => {
    const front = await open();
    const { service } = front;
    const { store, renew } = service;
    for (const channel of await store.channels(() => {}))
      await store.putChannel({ ...channel, agent: { images: true } });
    await renew();
    const attachments = [
      { url: TINY_PNG, name: "dot" },
      { url: "https://cdn.example/a.gif" },
      { url: imageOf("jpeg", 30_000) },
    ];
    await answer(front, await front.say("What is it?", "m-1", attachments));
    const feed = await service.ask(front.events("after="));
    await expect.poll(() => feed.soFar().length, WITHIN).toBe(3);
    await answer(front, await front.say("And this?", "m-2", attachments));
    await expect.poll(() => feed.soFar().length, WITHIN).toBe(7);
    const asked = front.events();
    const page = await service.ask({ ...asked, path: String(asked.path).replace("/events", "/messages") });
    const { items } = (await page.json()) as { items: { attachments?: unknown }[] };
    const told = feed.soFar().flatMap((line) => (line.type === "message" ? [line.item] : []));
    expect(told).toEqual(items);
    expect(items[0]?.attachments).toEqual(attachments);
  });

  test("ends when the service stops, and is 503 after that", async () => {
    const front = await open();
    await answer(front, await front.say("One"));
    const feed = await front.service.ask(front.events());
    await front.service.drain();
    // D2: not in the space that a listener sends before a next line.
    expect(await feed.lines()).toEqual([{ type: "state", state: "idle" }, { type: "ping" }]);
    expect((await front.service.ask(front.events())).status).toBe(503);
  });
});

test("G3: of 200 feeds of a token that are opened at once, five stay open", async () => {
  const front = await widget();
  const feeds = await Promise.all(Array.from({ length: 200 }, () => front.service.ask(front.events())));
  expect(feeds.filter((feed) => feed.isEnded())).toHaveLength(195);
  const more = await front.service.ask(front.events());
  expect(feeds.filter((feed) => feed.isEnded())).toHaveLength(196);
  expect(more.isEnded()).toBe(false);
});

test("the sixth feed of a token ends the first, and no other", async () => {
  const front = await widget();
  const stranger = await widget();
  await stranger.service.ask(stranger.events());
  const feeds: Got[] = [];
  for (let nth = 0; nth < 6; nth++) feeds.push(await front.service.ask(front.events()));
  expect(feeds.map((feed) => feed.isEnded())).toEqual([true, false, false, false, false, false]);
  feeds[1]?.leave();
  feeds.push(await front.service.ask(front.events()));
  expect(feeds.slice(2).some((feed) => feed.isEnded())).toBe(false);
});

describe("the feeds of a visitor end, and those of others go on, when", () => {
  async function two(): Promise<{ front: Awaited<ReturnType<typeof widget>>; theirs: Got; others: Got }> {
    const front = await widget();
    const theirs = await front.service.ask(front.events());
    const { service } = front;
    const token = await service.newToken();
    const threadId = await service.newThread(token);
    const path = `/v1/widget/threads/${threadId}/events`;
    const others = await service.ask({ path, headers: { origin: ORIGIN, "x-visitor-token": token } });
    return { front, theirs, others };
  }

  test("the visitor is blocked", async () => {
    const { front, theirs, others } = await two();
    const { store } = front.service;
    const { tokenHash = "" } = readVisitorToken(front.token) ?? {};
    const { visitor } = await store.readIdentity("shop", tokenHash, "nobody");
    await store.flagUser("shop", visitor!.user.userId, { blocked: true });
    await expect.poll(() => theirs.isEnded(), WITHIN).toBe(true);
    expect(others.isEnded()).toBe(false);
  });

  test("the visitor is identified as an account that is blocked", async () => {
    const { front, theirs, others } = await two();
    const { service, token } = front;
    const account = { visitorToken: token, externalUserId: "account-7" };
    const other = await service.newToken();
    const identify = (body: object) =>
      service.post("/v1/channels/shop/identify", body, {
        headers: { authorization: `Bearer ${SECRET_KEY}` },
      });
    await identify({ ...account, visitorToken: other });
    const blocked = (await service.store.users("shop")).find(({ externalId }) => externalId === "account-7");
    await service.store.flagUser("shop", blocked!.userId, { blocked: true });
    expect(theirs.isEnded()).toBe(false);
    expect((await identify(account)).status).toBe(200);
    await expect.poll(() => theirs.isEnded(), WITHIN).toBe(true);
    expect(others.isEnded()).toBe(false);
  });

  test.each([
    ["the visitor's tokens are revoked", "revoke"],
    ["the visitor's token is rotated", "identify"],
  ])("%s", async (_, what) => {
    const { front, theirs, others } = await two();
    const backend = (path: string, body: object) =>
      front.service.post(`/v1/channels/shop/${path}`, body, {
        headers: { authorization: `Bearer ${SECRET_KEY}` },
      });
    const account = { visitorToken: front.token, externalUserId: "account-7" };
    expect((await backend("identify", account)).status).toBe(200);
    expect(theirs.isEnded()).toBe(false);
    expect((await backend(what, { ...account, rotate: true })).status).toBeLessThan(300);
    await expect.poll(() => theirs.isEnded(), WITHIN).toBe(true);
    expect(others.isEnded()).toBe(false);
  });

  test("the channel is disabled: all of them", async () => {
    const { front, theirs, others } = await two();
    await front.service.store.putChannel({ ...shop, enabled: false });
    await expect.poll(() => [theirs.isEnded(), others.isEnded()], WITHIN).toEqual([true, true]);
  });
});

test("a feed ends when its token is too old", async () => {
  const front = await widget({ WIDGET_VISITOR_MAX_AGE_SECONDS: "1" });
  const feed = await front.service.ask(front.events());
  expect(feed.status).toBe(200);
  front.service.clock.nowMs += 1_000;
  expect((await front.service.ask(front.events())).status).toBe(401);
  await expect.poll(() => feed.isEnded(), WITHIN).toBe(true);
});

test("an open feed keeps its token alive", async () => {
  const front = await widget({ WIDGET_VISITOR_TTL_SECONDS: "1" });
  const { service } = front;
  const feed = await service.ask(front.events());
  const used = vi.spyOn(service.store, "admitVisitor");
  const uses = () => used.mock.settledResults.filter(({ type }) => type === "fulfilled").length;
  for (const times of [1, 2, 3]) {
    await expect.poll(uses, WITHIN).toBeGreaterThanOrEqual(times);
    service.clock.nowMs += 600;
  }
  expect((await service.ask(front.events())).status).toBe(200);
  expect(feed.isEnded()).toBe(false);
});

test("a backend's feed goes on when its user is blocked", async () => {
  const front = await server();
  await answer(front, await front.say("One"));
  const feed = await front.service.ask(front.events());
  const [user] = await front.service.store.users("cli");
  await front.service.store.flagUser("cli", user!.userId, { blocked: true });
  await front.service.renew();
  expect(feed.isEnded()).toBe(false);
  expect((await front.service.ask(front.events())).status).toBe(200);
});

test.each([
  ["/v1/threads/nowhere/events", "userId=ada", 404],
  ["/v1/threads/nowhere/events", "", 422],
])("GET %s?%s is %i", async (path, query, status) => {
  const { service } = await server();
  expect((await service.ask({ path, query, headers: bearer })).status).toBe(status);
});

test("another visitor's thread has no feed", async () => {
  const front = await widget();
  const stranger = { origin: ORIGIN, "x-visitor-token": await front.service.newToken() };
  expect((await front.service.ask({ ...front.events(), headers: stranger })).status).toBe(404);
});
