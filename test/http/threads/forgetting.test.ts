// For src/threads/delete/, src/operators/forgetting.ts
import { describe, expect, test } from "vitest";
import { startOperated } from "../operator-api/operators-service.ts";
import type { OperatedService } from "../operator-api/operators-service.ts";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
const DELETED = { type: "error", code: "deleted", message: expect.any(String) as unknown };
const CANARY = "my secret is 4711";

/** A visitor with a thread in which something was said, and what the widget may ask of it. */
async function visited(service: OperatedService) {
  const token = await service.newToken();
  const thread = await service.newThread(token);
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const read = (path: string, query = "") =>
    service.ask({ method: "GET", path: `/v1/widget/threads/${thread}/${path}`, query, headers });
  const post = (path: string, body?: unknown) =>
    service.post(`/v1/widget${path}`, body, { headers: { ...headers, "content-type": "application/json" } });
  const say = (text: string) => post("/messages", { threadId: thread, text });
  const said = await say(CANARY);
  const turn = await service.agent.turn();
  turn.write("I keep it");
  turn.finish();
  await said.text();
  const found = await service.store.channelThread("shop", thread);
  return { token, thread, userId: found?.userId ?? "", headers, read, post, say };
}

async function auditOf({ store }: OperatedService) {
  return (await store.audit({ limit: 100, after: null, sinceMs: 0 })).items.map(({ entry }) => entry);
}

async function expectThreadGone(service: OperatedService, visitor: Awaited<ReturnType<typeof visited>>) {
  const { thread, read, post, say } = visitor;
  const answers = await Promise.all([
    read("messages"),
    read("stream"),
    read("events"),
    say("Still there?"),
    post("/tools", { threadId: thread, webmcpTools: [] }),
    post("/tool-results", { threadId: thread, callId: "c1", tool: "cart", result: "ok" }),
    post(`/threads/${thread}/cancel`),
    post(`/threads/${thread}/delete`),
    service.as("admin", "GET", `/channels/shop/threads/${thread}`),
    service.as("admin", "GET", `/channels/shop/threads/${thread}/messages`),
    service.as("admin", "GET", `/channels/shop/threads/${thread}/runs`),
    service.as("admin", "DELETE", `/channels/shop/threads/${thread}`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
}

describe("a thread is deleted", () => {
  test("by an operator: 202, then all of it is 404, and its run ends with a line of code deleted", async () => {
    const service = await startOperated();
    const visitor = await visited(service);
    const running = await visitor.say("And now?");
    const turn = await service.agent.turn();
    turn.write("Let me");
    const got = await service.as("admin", "DELETE", `/channels/shop/threads/${visitor.thread}`);
    expect([got.status, await got.text()]).toEqual([202, ""]);
    expect((await running.lines()).at(-1)).toEqual(DELETED);
    await expectThreadGone(service, visitor);
    const list = await service.ask({ method: "GET", path: "/v1/widget/threads", headers: visitor.headers });
    expect(JSON.stringify(await list.json())).not.toContain(visitor.thread);
    expect((await auditOf(service)).filter(({ action }) => action === "threads.delete")).toMatchObject([
      { operator: "admin", target: visitor.thread, slug: "shop" },
    ]);
    // Its visitor goes on with another one.
    expect(await service.newThread(visitor.token)).not.toBe(visitor.thread);
  });

  test("by its visitor, and by no other one: 204", async () => {
    const service = await startOperated();
    const visitor = await visited(service);
    const stranger = await visited(service);
    const other = await stranger.post(`/threads/${visitor.thread}/delete`);
    expect(other.status).toBe(404);
    expect((await visitor.read("messages")).status).toBe(200);
    const got = await visitor.post(`/threads/${visitor.thread}/delete`);
    expect([got.status, await got.text()]).toEqual([204, ""]);
    await expectThreadGone(service, visitor);
    expect((await stranger.read("messages")).status).toBe(200);
    expect(await auditOf(service)).toMatchObject([
      { operator: "visitor", action: "threads.delete", target: visitor.thread, slug: "shop" },
    ]);
  });

  test("of the server API: its name begins a new one", async () => {
    const service = await startOperated();
    const say = async (text: string) => {
      const body = { threadId: "order 1", userId: "kim", text };
      const said = await service.post("/v1/messages", body, { headers: bearer });
      expect(said.status).toBe(200);
      (await service.agent.turn()).finish();
      return said.text();
    };
    await say(CANARY);
    const { items } = await service.store.channelThreads("cli", {
      limit: 9,
      after: null,
      sinceMs: 0,
      untilMs: Infinity,
    });
    const uid = items[0]?.uid ?? "";
    expect((await service.as("admin", "DELETE", `/channels/cli/threads/${uid}`)).status).toBe(202);
    const history = () =>
      service.ask({
        method: "GET",
        path: `/v1/threads/${encodeURIComponent("order 1")}/messages`,
        query: "userId=kim",
        headers: bearer,
      });
    expect((await history()).status).toBe(404);
    await say("Hello again");
    expect(await (await history()).text()).not.toContain(CANARY);
  });

  test("nothing of another channel's, or of none; and not without the role", async () => {
    const service = await startOperated();
    const { thread } = await visited(service);
    expect((await service.as("admin", "DELETE", `/channels/other/threads/${thread}`)).status).toBe(404);
    expect((await service.as("admin", "DELETE", `/channels/nowhere/threads/${thread}`)).status).toBe(404);
    expect((await service.as("agent", "DELETE", `/channels/shop/threads/${thread}`)).status).toBe(403);
    expect((await service.as("admin", "GET", `/channels/shop/threads/${thread}`)).status).toBe(200);
    expect((await auditOf(service)).filter(({ action }) => action === "threads.delete")).toEqual([]);
  });
});

describe("a user is deleted", () => {
  test("a visitor: the token is 401, everything else 404, and a run ends with a line of code deleted", async () => {
    const service = await startOperated();
    const visitor = await visited(service);
    const running = await visitor.say("And now?");
    await service.agent.turn();
    const got = await service.as("admin", "DELETE", `/channels/shop/users/${visitor.userId}`);
    expect([got.status, await got.text()]).toEqual([202, ""]);
    expect((await running.lines()).at(-1)).toEqual(DELETED);
    expect((await visitor.read("messages")).status).toBe(401);
    expect((await visitor.post("/threads")).status).toBe(401);
    for (const [method, path] of [
      ["GET", `users/${visitor.userId}`],
      ["DELETE", `users/${visitor.userId}`],
      ["PATCH", `users/${visitor.userId}`],
      ["GET", `threads/${visitor.thread}`],
      ["GET", `threads/${visitor.thread}/messages`],
    ] as const) {
      const body = method === "PATCH" ? { blocked: true } : undefined;
      expect((await service.as("admin", method, `/channels/shop/${path}`, body)).status).toBe(404);
    }
    expect((await auditOf(service)).filter(({ action }) => action === "users.delete")).toMatchObject([
      { operator: "admin", target: visitor.userId, slug: "shop" },
    ]);
  });

  test("an account, by the caller's id: it begins anew as a stranger, a blocked one too", async () => {
    const service = await startOperated();
    const visitor = await visited(service);
    const identify = (token: string) =>
      service.ask({
        method: "POST",
        path: "/v1/channels/shop/identify",
        headers: { authorization: `Bearer ${SECRET_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ visitorToken: token, externalUserId: "kim", displayName: "Kim K." }),
      });
    expect((await identify(visitor.token)).status).toBe(200);
    await service.as("admin", "PATCH", "/channels/shop/users/kim", { blocked: true });
    expect((await service.as("shop-admin", "DELETE", "/channels/shop/users/kim")).status).toBe(202);
    expect((await service.as("admin", "GET", "/channels/shop/users/kim")).status).toBe(404);
    expect((await visitor.read("messages")).status).toBe(401);
    expect((await identify(visitor.token)).status).toBe(404);

    const again = await service.newToken();
    expect((await identify(again)).status).toBe(200);
    const user = (await (await service.as("admin", "GET", "/channels/shop/users/kim")).json()) as object;
    expect(user).toMatchObject({ externalUserId: "kim", blocked: false });
    expect(user).not.toMatchObject({ userId: visitor.userId });
    const audit = JSON.stringify((await auditOf(service)).filter(({ action }) => action === "users.delete"));
    for (const text of ["kim", "Kim", CANARY]) expect(audit).not.toContain(text);
  });
});
