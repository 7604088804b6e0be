// For src/http/thread-page.ts, src/http/widget-api/threads.ts, src/http/server-api/threads.ts,
// src/protocol/threads.ts
import { describe, expect, test } from "vitest";
import { cursorOf } from "../../../src/http/thread-page.ts";
import { ORIGIN, TRANSPORT_KEY, startService } from "../service.ts";
import type { Got, Service } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };

interface Page {
  items: { threadId: string; createdAt: number; updatedAt: number; state: string }[];
  next: string | null;
}

const pageIn = async (got: Got) => (await got.json()) as Page;

/** One API, and one way to talk in threads and list them. */
interface Front {
  service: Service;
  begin: (text: string) => Promise<{ threadId: string; reply: Got }>;
  list: (query?: string) => Promise<Got>;
}

async function server(): Promise<Front> {
  const service = await startService();
  let threads = 0;
  return {
    service,
    async begin(text) {
      const threadId = `chat ${threads++}`;
      const message = { threadId, userId: "ada", text };
      return { threadId, reply: await service.post("/v1/messages", message, { headers: bearer }) };
    },
    list: (query = "") => service.ask({ path: "/v1/threads", query: `userId=ada&${query}`, headers: bearer }),
  };
}

async function widget(): Promise<Front> {
  const service = await startService();
  const token = await service.newToken();
  const headers = { "x-visitor-token": token };
  return {
    service,
    async begin(text) {
      const threadId = await service.newThread(token);
      return { threadId, reply: await service.post("/v1/widget/messages", { threadId, text }, { headers }) };
    },
    list: (query = "") =>
      service.ask({ path: "/v1/widget/threads", query, headers: { origin: ORIGIN, ...headers } }),
  };
}

async function answer({ service }: Front, reply: Got): Promise<void> {
  (await service.agent.turn()).finish();
  await reply.text();
}

describe.each([
  ["GET /v1/threads", server],
  ["GET /v1/widget/threads", widget],
])("%s", (_name, open) => {
  test("lists the threads with the latest activity first, in pages", async () => {
    const front = await open();
    const threadIds: string[] = [];
    for (const text of ["One", "Two", "Three"]) {
      const { threadId, reply } = await front.begin(text);
      threadIds.unshift(threadId);
      front.service.clock.nowMs += 1_000;
      await answer(front, reply);
      front.service.clock.nowMs += 1_000;
    }
    const all = await pageIn(await front.list());
    expect(all.next).toBeNull();
    expect(all.items.map(({ threadId }) => threadId)).toEqual(threadIds);
    for (const { createdAt, updatedAt, state } of all.items) {
      expect([updatedAt - createdAt, state]).toEqual([1_000, "idle"]);
    }
    const first = await pageIn(await front.list("limit=2"));
    expect(first.items).toEqual(all.items.slice(0, 2));
    const second = await pageIn(await front.list(`limit=2&cursor=${first.next}`));
    expect(second).toEqual({ items: all.items.slice(2), next: null });
  });

  test("tells that a run is under way", async () => {
    const front = await open();
    const { threadId, reply } = await front.begin("Slowly");
    expect((await pageIn(await front.list())).items).toMatchObject([{ threadId, state: "running" }]);
    await answer(front, reply);
    expect((await pageIn(await front.list())).items).toMatchObject([{ threadId, state: "idle" }]);
  });

  test.each(["limit=0", "limit=101", "limit=x", "cursor=", "cursor=nobody-knows-it", "cursor=!"])(
    "%s is refused",
    async (query) => {
      const front = await open();
      const { reply } = await front.begin("Hello");
      await answer(front, reply);
      expect((await front.list(query)).status).toBe(422);
    },
  );

  test("a cursor whose sum is of another place is refused", async () => {
    const front = await open();
    const { reply } = await front.begin("Hello");
    await answer(front, reply);
    const cursor = Buffer.from(cursorOf({ atMs: 5, uid: "one" }), "base64url").toString();
    const forged = Buffer.from(cursor.replace("one", "two")).toString("base64url");
    expect((await front.list(`cursor=${forged}`)).status).toBe(422);
  });
});

test.each([
  ["without a userId", "", 422, "The query does not match the schema: userId"],
  ["an unknown channel", "userId=ada&channel=nowhere", 404, "Unknown channel"],
  ["an unknown user", "userId=bob", 404, "Unknown user"],
])("GET /v1/threads: %s is refused", async (_row, query, status, text) => {
  const front = await server();
  await answer(front, (await front.begin("Hello")).reply);
  const got = await front.service.ask({ path: "/v1/threads", query, headers: bearer });
  expect([got.status, await got.text()]).toEqual([status, text]);
});

test("GET /v1/threads lists a blocked user's threads, and takes no other key", async () => {
  const front = await server();
  await answer(front, (await front.begin("Hello")).reply);
  const [user] = await front.service.store.users("cli");
  await front.service.store.flagUser("cli", user!.userId, { blocked: true });
  expect((await pageIn(await front.list())).items).toHaveLength(1);
  const got = await front.service.ask({ path: "/v1/threads", query: "userId=ada" });
  expect([got.status, await got.text()]).toEqual([401, "Unauthorized"]);
});

test("GET /v1/widget/threads lists nobody else's threads, and nothing to who is blocked", async () => {
  const front = await widget();
  await answer(front, (await front.begin("Hello")).reply);
  const stranger = { origin: ORIGIN, "x-visitor-token": await front.service.newToken() };
  const theirs = await front.service.ask({ path: "/v1/widget/threads", headers: stranger });
  expect(await theirs.json()).toEqual({ items: [], next: null });
  for (const { userId } of await front.service.store.users("shop")) {
    await front.service.store.flagUser("shop", userId, { blocked: true });
  }
  expect((await front.list()).status).toBe(403);
});
