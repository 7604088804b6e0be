// For src/http/widget-api/, src/threads/say/
import { describe, expect, test } from "vitest";
import type { Sent } from "../service.ts";
import { cli, ORIGIN, TRANSPORT_KEY, shop } from "../service.ts";
import { startOperated } from "../operator-api/operators-service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
type Service = Awaited<ReturnType<typeof startOperated>>;

interface Item {
  id: string;
  role: string;
  feedback?: object;
}

async function answer(service: Service, said: Promise<{ lines(): Promise<unknown> }>): Promise<void> {
  const turn = await service.agent.turn();
  turn.write("It is on its way");
  turn.finish();
  await (await said).lines();
}

/** A visitor's thread with a message and its reply. */
async function open(env: Record<string, string> = {}) {
  const service = await startOperated(env);
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { "x-visitor-token": token };
  const own = `/v1/widget/threads/${threadId}`;
  const say = (text: string) => service.post("/v1/widget/messages", { threadId, text }, { headers });
  await answer(service, say("Where is my order?"));
  return {
    ...service,
    token,
    threadId,
    say,
    rate: (body: unknown, more: Partial<Sent> = {}) =>
      service.post(`${own}/feedback`, body, { headers, ...more }),
    items: async () => {
      const got = await service.ask({ path: `${own}/messages`, headers: { origin: ORIGIN, ...headers } });
      return ((await got.json()) as { items: Item[] }).items;
    },
  };
}

describe("feedback of a visitor", () => {
  test("is part of the reply's item: the latest, until it is taken back", async () => {
    const { rate, items } = await open();
    const rated = await rate({ messageId: "2", rating: "up" });
    expect([rated.status, await rated.text()]).toEqual([204, ""]);
    expect((await items())[1]).toMatchObject({ id: "2", feedback: { rating: "up" } });
    const comment = "Not my order \ud83d\ude41";
    expect((await rate({ messageId: "2", rating: "down", comment })).status).toBe(204);
    expect((await items())[1]?.feedback).toEqual({ rating: "down", comment });
    expect((await rate({ messageId: "2", rating: "down" })).status).toBe(204);
    expect((await items())[1]?.feedback).toEqual({ rating: "down" });
    expect((await rate({ messageId: "2", rating: null, comment: "?" })).status).toBe(204);
    expect((await items()).map((item) => "feedback" in item)).toEqual([false, false]);
  });

  test.each([
    ["a message of the visitor's", { messageId: "1", rating: "up" }, 404],
    ["an item that is not there", { messageId: "9", rating: "up" }, 404],
    ["a comment of 2,000 characters", { messageId: "2", rating: "down", comment: "x".repeat(2_000) }, 204],
    ["a comment of one more", { messageId: "2", rating: "down", comment: "x".repeat(2_001) }, 413],
    ["another rating", { messageId: "2", rating: "sideways" }, 422],
    ["no rating", { messageId: "2" }, 422],
    ["no message", { rating: "up" }, 422],
    ["a number for an id", { messageId: 2, rating: "up" }, 422],
    ["a comment that is no text", { messageId: "2", rating: "down", comment: 1 }, 422],
    ["no JSON", "{", 422],
  ])("%s", async (_, body, status) => {
    const { rate, items } = await open();
    expect((await rate(body)).status).toBe(status);
    expect("feedback" in ((await items())[1] ?? {})).toBe(status === 204);
  });

  test("is nobody else's to give", async () => {
    const service = await open();
    const { rate, newToken } = service;
    const stranger = { headers: { "x-visitor-token": await newToken() } };
    const good = { messageId: "2", rating: "up" };
    expect((await rate(good, stranger)).status).toBe(404);
    expect((await rate(good, { headers: {} })).status).toBe(401);
    const elsewhere = { origin: "https://evil.example", "x-visitor-token": service.token };
    expect((await rate(good, { headers: elsewhere })).status).toBe(403);
    expect("feedback" in ((await service.items())[1] ?? {})).toBe(false);
  });

  test("disturbs no run in progress", async () => {
    const { say, agent, rate, items } = await open();
    const reply = await say("And the other one?");
    const turn = await agent.turn();
    turn.write("That one ");
    expect((await rate({ messageId: "2", rating: "up" })).status).toBe(204);
    turn.write("as well");
    turn.finish();
    expect(await reply.lines()).toMatchObject([
      { type: "delta", text: "That one " },
      { type: "delta", text: "as well" },
      { type: "done" },
    ]);
    expect((await items()).map(({ feedback = null }) => feedback)).toEqual([
      null,
      { rating: "up" },
      null,
      null,
    ]);
  });

  test("is none of what the AI SDK's client reads", async () => {
    const { rate, ask, threadId, token } = await open();
    await rate({ messageId: "2", rating: "down", comment: "SECRET" });
    const path = `/v1/widget/ai-sdk/chat/${threadId}/messages`;
    const got = await ask({ path, headers: { origin: ORIGIN, "x-visitor-token": token } });
    expect(got.status).toBe(200);
    expect(await got.text()).not.toContain("SECRET");
  });

  test.each([{ WIDGET_RATINGS_PER_MINUTE: "2" }, { WIDGET_IP_RATINGS_PER_MINUTE: "2" }])(
    "G17: is a write of its own rate, neither a read nor what a visitor says: %o",
    async (limit) => {
      const { rate, say } = await open({
        WIDGET_READS_PER_MINUTE: "1",
        WIDGET_IP_READS_PER_MINUTE: "1",
        ...limit,
      });
      const statuses: number[] = [];
      for (const rating of ["up", "down", "up"]) {
        statuses.push((await rate({ messageId: "2", rating })).status);
      }
      expect(statuses).toEqual([204, 204, 429]);
      expect((await say("Once more")).status).toBe(200);
    },
  );

  test("of what a person wrote is 404", async () => {
    const { rate, store, as, renew, post, threadId, token } = await open();
    await store.putChannel({ ...shop, handoff: { enabled: true } });
    await renew();
    const headers = { "x-visitor-token": token };
    expect((await post(`/v1/widget/threads/${threadId}/handoff`, "", { headers })).status).toBe(204);
    const operated = `/channels/shop/threads/${threadId}`;
    expect((await as("agent", "POST", `${operated}/take`, { epoch: 1 })).status).toBe(200);
    const said = await as("agent", "POST", `${operated}/messages`, { text: "Hi", epoch: 2 });
    const { id } = (await said.json()) as { id: string };
    expect((await rate({ messageId: id, rating: "up" })).status).toBe(404);
    expect((await rate({ messageId: "2", rating: "up" })).status).toBe(204);
  });

  test("is in the export, and gone with the thread", async () => {
    const { rate, as, threadId, store, renew } = await open();
    await rate({ messageId: "2", rating: "down", comment: "Too slow" });
    const [user] = await store.users("shop");
    const exported = await as("admin", "GET", `/channels/shop/users/${user?.userId}/export`);
    expect(await exported.lines()).toContainEqual(
      expect.objectContaining({
        type: "message",
        id: "2",
        feedback: { rating: "down", comment: "Too slow" },
      }),
    );
    expect((await as("admin", "DELETE", `/channels/shop/threads/${threadId}`)).status).toBe(202);
    await renew();
    expect((await rate({ messageId: "2", rating: "up" })).status).toBe(404);
    expect(await store.history(threadId, { limit: 9, before: null })).toEqual([]);
  });
});

describe("feedback by a transport", () => {
  async function talk() {
    const service = await startOperated();
    const named = { threadId: "t", userId: "kim" };
    await answer(service, service.post("/v1/messages", { ...named, text: "Hello" }, { headers: bearer }));
    return {
      ...service,
      rate: (body: object, more: Partial<Sent> = { headers: bearer }) =>
        service.post(
          "/v1/threads/t/feedback",
          { userId: "kim", messageId: "2", rating: "up", ...body },
          more,
        ),
      items: async () => {
        const query = "userId=kim";
        const got = await service.ask({ path: "/v1/threads/t/messages", query, headers: bearer });
        return ((await got.json()) as { items: Item[] }).items;
      },
    };
  }

  test("is as a visitor's", async () => {
    const { rate, items } = await talk();
    expect((await rate({ rating: "down", comment: "No" })).status).toBe(204);
    expect((await items())[1]?.feedback).toEqual({ rating: "down", comment: "No" });
    expect((await rate({ rating: null, channel: "cli" })).status).toBe(204);
    expect((await items())[1]).not.toHaveProperty("feedback");
  });

  test.each([
    [{ messageId: "1" }, 404],
    [{ userId: "lee" }, 404],
    [{ channel: "nowhere" }, 404],
    [{ comment: "x".repeat(2_001) }, 413],
    [{ userId: "" }, 422],
    [{ rating: "UP" }, 422],
  ])("%j", async (body, status) => {
    const { rate } = await talk();
    expect((await rate(body)).status).toBe(status);
  });

  test.each([
    [
      "a user who is blocked",
      async ({ store }: Service) => {
        const [user] = await store.users("cli");
        await store.flagUser("cli", user!.userId, { blocked: true });
      },
    ],
    [
      "a channel that is disabled",
      async ({ store, renew }: Service) => {
        await store.putChannel({ ...cli, enabled: false });
        await renew();
      },
    ],
  ])("of %s is 403, also for an unknown thread", async (_, refuse) => {
    const service = await talk();
    await refuse(service);
    expect((await service.rate({})).status).toBe(403);
    expect((await service.rate({ userId: "lee" })).status).toBe(404);
    const elsewhere = await service.post(
      "/v1/threads/u/feedback",
      { userId: "kim", messageId: "2", rating: "up" },
      { headers: bearer },
    );
    expect([elsewhere.status, await elsewhere.text()]).toEqual([403, ""]);
    expect((await service.items())[1]).not.toHaveProperty("feedback");
  });

  test("needs the transport's key", async () => {
    const { rate } = await talk();
    expect((await rate({}, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
  });
});

test("G17: of all that a page posts, only what CopilotKit missed counts as a read", async () => {
  const { routes, ask, post, newToken, newThread } = await startOperated({ WIDGET_READS_PER_MINUTE: "1" });
  const token = await newToken();
  const id = await newThread(token);
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const read = { path: `/v1/widget/threads/${id}/messages`, headers };
  expect([(await ask(read)).status, (await ask(read)).status]).toEqual([200, 429]);
  const asReads: string[] = [];
  for (const { api, method, path, documentation } of routes) {
    if (api !== "widget" || method !== "POST" || documentation === "hidden") continue;
    const example = { ...(documentation.body?.example as object), threadId: id, id };
    const at = path.replace(/:(id|threadId)/g, id);
    const got = await post(at, documentation.body ? example : "", { headers });
    if (got.status === 429) asReads.push(path);
  }
  expect(asReads).toEqual(["/v1/widget/copilotkit/agent/:id/connect"]);
});
