// For src/operators/, src/http/operator-api/
import { expect, inject, test } from "vitest";
import { ORIGIN, TRANSPORT } from "./houses.ts";
import { startOperated } from "./operated.ts";
import type { Operated } from "./operated.ts";
import { ask, objectOf, terminalOf } from "./page.ts";

test.each(inject("stores"))(
  "the operator's word is soon in force, without a restart, on every instance: %s",
  async (kind) => {
    const operated = await startOperated(kind);
    await blocksAndUnblocksUsers(operated);
    await disablesAndEnablesChannels(operated);
    await letsInOnlyWhomItWhitelists(operated);
    await blocksAddresses(operated);
    await rotatesKeys(operated);
    await showsConversations(operated);
    for (const url of operated.urls) expect((await ask(url, "/health", { method: "GET" })).status).toBe(200);
  },
);

/** A message of ada's on the bot, in a thread of its own at each call. */
let threads = 0;
const message = (userId = "ada") => ({
  channel: "bot",
  userId,
  threadId: `chat-${threads++}`,
  text: "Hello",
});

async function blocksAndUnblocksUsers(operated: Operated): Promise<void> {
  const { operate, everywhere, run, model, all } = operated;
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(200));
  const user = { userId: expect.any(String) as unknown, externalUserId: "ada", displayName: null };
  const flags = { blocked: true, whitelisted: false };
  expect(await operate("users", "block", "bot", "ada")).toEqual({ ...user, ...flags });
  // P12: flags are read with each request: nothing to wait for. P13: and the model is not called.
  const calls = model.requests.length;
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(403));
  expect(model.requests).toHaveLength(calls);
  expect(await operate("users", "show", "bot", "ada")).toEqual({ ...user, ...flags });
  expect(await operate("users", "list", "bot")).toEqual([{ ...user, ...flags }]);
  await operate("users", "unblock", "bot", "ada");
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(200));
  expect((await run("users", "block", "bot", "eve")).code).toBe(1);
  expect((await run("users", "block", "bot")).code).toBe(2);
}

async function disablesAndEnablesChannels(operated: Operated): Promise<void> {
  const { operate, everywhere, enter, run, all } = operated;
  const bot = { slug: "bot", kind: "transport", enabled: false, accessMode: "open", agent: {} };
  expect(await operate("channels", "disable", "bot")).toEqual(bot);
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(403));
  await operate("channels", "disable", "shop");
  await expect.poll(enter).toEqual(all(403));
  await operate("channels", "enable", "bot");
  await operate("channels", "enable", "shop");
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(200));
  await expect.poll(enter).toEqual(all(201));
  expect((await run("channels", "disable", "nope")).code).toBe(1);
}

async function letsInOnlyWhomItWhitelists(operated: Operated): Promise<void> {
  const { operate, everywhere, all } = operated;
  expect(await operate("channels", "update", "bot", "--access-mode", "whitelist")).toMatchObject({
    accessMode: "whitelist",
  });
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(403));
  expect(await operate("users", "whitelist", "bot", "ada")).toMatchObject({ whitelisted: true });
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(200));
  expect(await everywhere("/v1/messages", TRANSPORT, message("kim"))).toEqual(all(403));
  await operate("users", "unwhitelist", "bot", "ada");
  expect(await everywhere("/v1/messages", TRANSPORT, message())).toEqual(all(403));
  await operate("channels", "update", "bot", "--access-mode", "open");
}

async function blocksAddresses(operated: Operated): Promise<void> {
  const { operate, run, urls, enter, all } = operated;
  expect(await run("ips", "block", "127.0.0.0/8")).toMatchObject({ code: 0, err: "" });
  await expect.poll(enter).toEqual(all(403));
  expect(await operate("ips", "list")).toEqual(["127.0.0.0/8"]);
  for (const url of urls) expect((await ask(url, "/health", { method: "GET" })).status).toBe(200);
  expect((await run("ips", "unblock", "127.0.0.0/8")).code).toBe(0);
  await expect.poll(enter).toEqual(all(201));
  expect((await run("ips", "unblock", "127.0.0.0/8")).code).toBe(1);
  expect((await run("ips", "block", "127.0.0.0/99")).code).toBe(2);
}

async function rotatesKeys(operated: Operated): Promise<void> {
  const { operate, everywhere, enter, keys, all } = operated;
  const link = (key: string) =>
    everywhere(
      "/v1/channels/shop/identify",
      { authorization: `Bearer ${key}` },
      { visitorToken: "vt_", externalUserId: "ada" },
    );
  expect(await link(keys.secretKey)).toEqual(all(404));
  const old = { ...keys };
  const made = (await operate("channels", "rotate-keys", "shop")) as Operated["keys"];
  expect(made).toEqual({
    slug: "shop",
    kind: "web",
    publishableKey: expect.stringMatching(/^pk_/) as unknown,
    secretKey: expect.stringMatching(/^sk_/) as unknown,
    allowedOrigins: [ORIGIN],
    enabled: true,
    accessMode: "open",
    agent: {},
  });
  await expect.poll(() => enter(old.publishableKey)).toEqual(all(401));
  expect(await enter(made.publishableKey)).toEqual(all(201));
  expect(await link(old.secretKey)).toEqual(all(401));
  expect(await link(made.secretKey)).toEqual(all(404));
  const { secretKey: _, ...shown } = made;
  expect(await operate("channels", "show", "shop")).toEqual(shown);
  keys.publishableKey = made.publishableKey;
  keys.secretKey = made.secretKey;
}

async function showsConversations(operated: Operated): Promise<void> {
  const { operate, run, urls, keys } = operated;
  const [url = ""] = urls;
  const page = (path: string, headers: Record<string, string>, body?: unknown) =>
    ask(url, `/v1/widget${path}`, { headers: { origin: ORIGIN, ...headers }, body });
  const entered = await page("/visitors", { "x-publishable-key": keys.publishableKey });
  const { visitorToken } = objectOf<{ visitorToken: string }>(entered);
  const visitor = { "x-visitor-token": visitorToken };
  const { threadId } = objectOf<{ threadId: string }>(await page("/threads", visitor));
  const tools = { threadId, webmcpTools: [{ name: "cart", description: "The cart" }] };
  expect((await page("/tools", visitor, tools)).status).toBe(204);
  const asked = { threadId, text: "call the cart", clientMessageId: "ask-1" };
  const call = terminalOf(await page("/messages", visitor, asked));
  const link = { visitorToken, externalUserId: "kim" };
  await ask(url, "/v1/channels/shop/identify", {
    headers: { authorization: `Bearer ${keys.secretKey}` },
    body: link,
  });

  const listed = { id: expect.any(String) as unknown, threadId, createdAt: expect.any(Number) as unknown };
  expect(await operate("threads", "list", "shop", "kim")).toEqual([{ ...listed, state: "awaiting" }]);
  const callId = call.type === "tool_call" ? call.callId : "";
  await page("/tool-results", visitor, { threadId, callId, tool: "cart", result: "Filled" });

  const history = async () => {
    const headers = { origin: ORIGIN, ...visitor };
    const told = await ask(url, `/v1/widget/threads/${threadId}/messages`, { method: "GET", headers });
    return objectOf<{ items: Record<string, unknown>[] }>(told).items;
  };
  const messageId = (await history()).at(-1)?.["id"];
  const rated = await page(`/threads/${threadId}/feedback`, visitor, { messageId, rating: "up" });
  expect(rated.status).toBe(204);
  const [{ id }] = (await operate("threads", "list", "shop", "kim")) as [{ id: string }];
  const shown = await operate("threads", "show", "shop", id);
  const items = await history();
  expect(items).toMatchObject([
    { role: "user", content: "call the cart", clientMessageId: "ask-1" },
    {
      role: "assistant",
      content: "You said: call the cart",
      steps: [{ id: "cart", phase: "done" }],
      feedback: { rating: "up" },
    },
  ]);
  expect(shown).toEqual({
    ...listed,
    state: "idle",
    messages: items,
    runs: [expect.objectContaining({ outcome: "done" })],
  });
  const { out } = await run("threads", "show", "shop", id);
  for (const part of ["call the cart", "[done] cart", "You said: call the cart", "RUN"])
    expect(out).toContain(part);
  expect((await run("threads", "show", "shop", "nope")).code).toBe(1);
}
