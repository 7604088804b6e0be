// For src/http/widget-api/, src/http/server-api/, src/http/endpoint.ts, src/http/endpoint-route.ts
import { expect, test } from "vitest";
import { pageCall } from "../threads/scripted-agent.ts";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY, startService } from "./service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };

test("a transport sends a message, reads the reply as lines, and has the user created on first use", async () => {
  const { post, agent, store } = await startService();
  const said = { threadId: "chat-1", userId: "ada", text: "Hello", displayName: "Ada" };
  const got = await post("/v1/messages", said, { headers: bearer });
  expect(got.status).toBe(200);
  expect(got.headers).toMatchObject({
    "content-type": "application/x-ndjson",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  });
  expect(got.headers).not.toHaveProperty("access-control-allow-origin");

  const turn = await agent.turn();
  expect(turn.turn.text).toBe("Hello");
  turn.write("Hi Ada");
  turn.finish();
  expect(await got.lines()).toMatchObject([
    { type: "delta", text: "Hi Ada" },
    { type: "done", inputTokens: 10, outputTokens: 5 },
  ]);
  expect(await store.findUser("cli", "ada")).toMatchObject({ externalId: "ada", displayName: "Ada" });
});

test("a stream is compressed where the request accepts gzip", async () => {
  const { post, agent } = await startService();
  const headers = { ...bearer, "accept-encoding": "gzip" };
  const got = await post("/v1/messages", { threadId: "t", userId: "u", text: "x" }, { headers });
  expect(got.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
  const turn = await agent.turn();
  turn.write("hello");
  turn.finish();
  expect((await got.lines()).map((line) => line["type"])).toEqual(["delta", "done"]);
});

test("an answer with a token in it is neither compressed nor kept by a cache", async () => {
  const { post, newToken } = await startService();
  const accepts = { "accept-encoding": "gzip" };
  const made = await post("/v1/widget/visitors", "", {
    headers: { ...accepts, "x-publishable-key": "pk_shop" },
  });
  const asked = { visitorToken: await newToken(), externalUserId: "ada", rotate: true };
  const asBackend = { headers: { ...accepts, authorization: `Bearer ${SECRET_KEY}` } };
  const rotated = await post("/v1/channels/shop/identify", asked, asBackend);
  for (const got of [made, rotated]) {
    expect(await got.json()).toHaveProperty("visitorToken");
    expect(got.headers).not.toHaveProperty("content-encoding");
    expect(got.headers["cache-control"]).toBe("no-store");
  }
});

test("a visitor talks, answers a tool_call, re-attaches, reads the history, and becomes an account", async () => {
  const { post, ask, agent, newToken, newThread } = await startService();
  const token = await newToken();
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const threadId = await newThread(token);
  const get = (what: string) => ask({ path: `/v1/widget/threads/${threadId}/${what}`, headers });

  expect((await get("stream")).status).toBe(204);
  const catalog = [{ name: "cart", annotations: { drop: 1 } }];
  expect((await post("/v1/widget/tools", { threadId, webmcpTools: catalog }, { headers })).status).toBe(204);

  const said = { threadId, text: "Fill my cart", page: "/shop?x=1", customerContext: { plan: "pro" } };
  const first = await post("/v1/widget/messages", said, { headers });
  expect(first.status).toBe(200);
  expect(first.headers).toMatchObject({
    "access-control-allow-origin": ORIGIN,
    vary: "Origin, accept-encoding",
  });
  const turn = await agent.turn();
  expect(turn.turn.catalog).toEqual([{ name: "cart" }]);
  expect(turn.turn.run.speaker).toEqual({
    displayName: null,
    page: "/shop?x=1",
    customerContext: { plan: "pro" },
  });
  turn.call(pageCall("call-1"));
  expect((await first.lines()).at(-1)).toMatchObject({ type: "tool_call", callId: "call-1", tool: "cart" });
  expect((await (await get("stream")).lines()).at(-1)).toMatchObject({ type: "tool_call", callId: "call-1" });

  const result = {
    threadId,
    callId: "call-1",
    tool: "cart",
    result: { content: [{ type: "text", text: "Done" }] },
  };
  const wrongTool = await post("/v1/widget/tool-results", { ...result, tool: "other" }, { headers });
  expect(wrongTool.status).toBe(409);
  const second = await post("/v1/widget/tool-results", result, { headers });
  expect(second.status).toBe(200);
  const next = await agent.turn();
  expect(next.turn.run.turns.at(-1)).toMatchObject({ type: "result", text: "Done" });
  next.write("It is full.");
  next.finish();
  expect((await second.lines()).map((line) => line["type"])).toEqual(["step", "delta", "done"]);

  const history = await (await get("messages")).json();
  expect(history).toEqual({
    items: [
      { id: "1", role: "user", content: "Fill my cart", createdAt: expect.any(Number) },
      {
        id: "2",
        role: "assistant",
        content: "It is full.",
        createdAt: expect.any(Number),
        steps: [{ id: "cart", phase: "done", text: "Filling the cart" }],
      },
    ],
  });

  const identify = (externalUserId: string) =>
    post(
      "/v1/channels/shop/identify",
      { visitorToken: token, externalUserId },
      { headers: { authorization: `Bearer ${SECRET_KEY}` } },
    );
  const promoted = await identify("acc-1");
  expect([promoted.status, await promoted.json()]).toEqual([
    200,
    { userId: expect.any(String), merged: false },
  ]);
  expect((await identify("acc-2")).status).toBe(409);
  expect((await get("messages")).status).toBe(200);
  expect((await post(`/v1/widget/threads/${threadId}/cancel`, "", { headers })).status).toBe(204);
});

test("a backend goes on in the thread that its user began on a page, and reading it counts in no rate", async () => {
  const { ask, post, agent, newToken, newThread } = await startService({ WIDGET_MESSAGES_PER_MINUTE: "1" });
  const token = await newToken();
  const threadId = await newThread(token);
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const history = () => ask({ path: `/v1/widget/threads/${threadId}/messages`, headers });
  for (let reading = 0; reading < 3; reading++) expect((await history()).status).toBe(200);

  const said = await post("/v1/widget/messages", { threadId, text: "One" }, { headers });
  expect(said.status).toBe(200);
  (await agent.turn()).finish();
  await said.lines();
  const identity = { visitorToken: token, externalUserId: "acc-1" };
  await post("/v1/channels/shop/identify", identity, { headers: { authorization: `Bearer ${SECRET_KEY}` } });

  const onward = { channel: "shop", userId: "acc-1", threadId, text: "Two" };
  const got = await post("/v1/messages", onward, { headers: bearer });
  expect(got.status).toBe(200);
  const turn = await agent.turn();
  expect(turn.turn.before.map(({ content }) => content)).toEqual(["One", ""]);
  turn.finish();
  await got.lines();
  expect((await history()).status).toBe(200);
});
