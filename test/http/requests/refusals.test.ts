// For src/admission/, src/http/
import type { Visitors } from "../../../src/visitors/visitors.ts";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { NewerRecord } from "../../../src/store.ts";
import { ORIGIN, TRANSPORT_KEY, cli, shop, startService } from "../service.ts";
import type { Sent } from "../service.ts";

/** Refused requests, by path, body, origin, token, identity, address and rate: every one leaves the model alone (P13). */
const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
const said = { threadId: "t", userId: "u", text: "x" };
const noCors = { vary: "Origin", "cache-control": "no-store" };

describe("routes", () => {
  test.each<[string, Partial<Sent>, number, (string | undefined)?, string?]>([
    ["unknown path", { path: "/nowhere" }, 404, undefined, "Not found"],
    ["unknown widget path", { path: "/v1/widget/nowhere" }, 404],
    ["GET on a POST route", { path: "/v1/messages" }, 405, "POST", "Method not allowed"],
    ["DELETE", { method: "DELETE", path: "/v1/widget/threads/x/messages" }, 405, "GET, OPTIONS"],
    ["a method of its own", { method: "FOO", path: "/health" }, 405, "GET, HEAD"],
    ["lower-case method", { method: "get", path: "/health" }, 405, "GET, HEAD"],
    ["upper-case path", { method: "POST", path: "/V1/Messages" }, 404, undefined, "Not found"],
    ["trailing slash", { method: "POST", path: "/v1/messages/" }, 404, undefined, "Not found"],
    ["doubled slash", { method: "POST", path: "//v1/messages" }, 404, undefined, "Not found"],
    ["dot segment", { method: "POST", path: "/v1/./messages" }, 404, undefined, "Not found"],
    ["dot-dot segment", { method: "POST", path: "/v1/widget/../messages" }, 404],
    ["%2F in an id", { path: "/v1/widget/threads/a%2Fb/messages" }, 404],
    ["%00 in a slug", { method: "POST", path: "/v1/channels/a%00/identify" }, 404, undefined, "Not found"],
    ["a slash in a slug", { path: "/v1/channels/..%2f/identify" }, 404, undefined, "Not found"],
    ["broken escape", { path: "/v1/widget/threads/%ZZ/messages" }, 404],
    ["a hundred segments", { path: "/v1/widget/threads" + "/x".repeat(100) }, 404],
    ["a path of 3 KB", { path: `/${"x".repeat(3000)}` }, 404, undefined, "Not found"],
    [
      "HEAD of what a token guards",
      { method: "HEAD", path: "/v1/widget/threads/x/stream" },
      405,
      "GET, OPTIONS",
    ],
    [
      "OPTIONS on the server API",
      { method: "OPTIONS", path: "/v1/messages" },
      405,
      "POST",
      "Method not allowed",
    ],
  ])("%s", async (_row, sent, status, allow, text = "") => {
    const { ask } = await startService();
    const got = await ask({ ...sent, headers: { origin: ORIGIN } });
    expect(got.status).toBe(status);
    expect(got.headers["allow"]).toBe(allow);
    expect(await got.text()).toBe(text);
    const isWidget = sent.path?.startsWith("/v1/widget/") ?? false;
    expect(got.headers["access-control-allow-origin"]).toBe(isWidget ? ORIGIN : undefined);
  });

  test.each([
    ["POST", "/v1/chat/completions", /no model server.*POST \/v1\/messages/],
    ["POST", "/v1/responses", /no model server/],
    ["GET", "/v1/models", /models stand behind/],
    ["POST", "/mcp", /calls MCP servers and is none/],
    ["GET", "/.well-known/agent-card.json", /no A2A here.*AG-UI/],
    ["GET", "/.well-known/security.txt", /^Not found$/],
  ])("D7: %s %s tells in one line what is here instead", async (method, path, line) => {
    const { ask } = await startService();
    const got = await ask({ method, path, headers: { authorization: "Bearer wrong" } });
    expect([got.status, got.headers["content-type"], got.headers["cache-control"]]).toEqual([
      404,
      "text/plain; charset=utf-8",
      "no-store",
    ]);
    const text = await got.text();
    expect(text).toMatch(line);
    expect(text).toMatch(/^[\x20-\x7e]{1,120}$/);
  });

  test.each(["/v1/widget/nowhere", "/widget/v1/none.js", "/widget/nowhere"])(
    "D7: an unknown path for browsers has no line: %s",
    async (path) => {
      const { ask } = await startService();
      const got = await ask({ path });
      expect([got.status, await got.text()]).toEqual([404, ""]);
    },
  );

  test("a query on any route but history is ignored; a credential of the other API, or in the query, is none", async () => {
    const { ask, post, newToken } = await startService();
    expect((await ask({ path: "/health", query: "x=1" })).status).toBe(200);
    expect((await post("/v1/widget/threads", "", { headers: bearer })).status).toBe(401);
    const token = await newToken();
    expect((await post("/v1/messages", said, { headers: { "x-visitor-token": token } })).status).toBe(401);
    expect((await post("/v1/widget/threads", "", { query: `x-visitor-token=${token}` })).status).toBe(401);
  });
});

describe("content headers", () => {
  test.each([
    ["none", undefined, 422],
    ["text/plain", "text/plain", 422],
    ["a form", "application/x-www-form-urlencoded", 422],
    ["with charset", "application/json; charset=utf-8", 200],
    ["upper case", "APPLICATION/JSON", 200],
    ["without a space", "application/json;charset=UTF-8", 200],
    ["utf-16", "application/json; charset=utf-16", 422],
    ["latin1", "application/json; charset=latin1", 422],
    ["another json", "application/json-seq", 422],
  ])("%s", async (_row, contentType, status) => {
    const { ask, agent } = await startService();
    const headers = contentType === undefined ? bearer : { ...bearer, "content-type": contentType };
    const got = await ask({ method: "POST", path: "/v1/messages", body: JSON.stringify(said), headers });
    expect(got.status).toBe(status);
    if (status === 200) (await agent.turn()).finish();
    else expect(agent.turns).toBe(0);
  });

  test("a content-encoding other than identity is 415", async () => {
    const { post, agent } = await startService();
    const headers = (encoding: string) => ({ headers: { ...bearer, "content-encoding": encoding } });
    expect((await post("/v1/messages", said, headers("gzip"))).status).toBe(415);
    expect((await post("/v1/messages", said, headers("identity"))).status).toBe(200);
    (await agent.turn()).finish();
  });

  test("a token without the shape of one is 401 and asks no store", async () => {
    const { post, store } = await startService();
    await store.close();
    for (const token of ["", "   ", "x".repeat(8192), "vt_shop_é", "vt_shop_short"]) {
      expect((await post("/v1/widget/threads", "", { headers: { "x-visitor-token": token } })).status).toBe(
        401,
      );
    }
  });
});

test("a long body is not parsed before its token is known", async () => {
  const { post, newToken } = await startService();
  const headers = (token: string) => ({ headers: { "x-visitor-token": token } });
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  const body = JSON.stringify({ threadId: "x".repeat(20), text: "a long one ".repeat(600) });
  const parsed = () => parse.mock.calls.filter(([text]) => text.includes("a long one")).length;

  const unknown = `vt_shop_${"x".repeat(43)}`;
  expect((await post("/v1/widget/messages", body, headers(unknown))).status).toBe(401);
  expect(parsed()).toBe(0);
  expect((await post("/v1/widget/messages", body, headers(await newToken()))).status).toBe(413);
  expect(parsed()).toBe(1);
});

describe("CORS (P22)", () => {
  const preflight = (origin: string | null): Partial<Sent> => ({
    method: "OPTIONS",
    path: "/v1/widget/messages",
    headers: { "access-control-request-private-network": "true", ...(origin === null ? {} : { origin }) },
  });

  test("a known origin's preflight is 204 with exactly the four headers and vary", async () => {
    const { ask } = await startService();
    const got = await ask(preflight(ORIGIN));
    expect(got.status).toBe(204);
    expect(got.headers).toEqual({
      "access-control-allow-origin": ORIGIN,
      "access-control-allow-methods": "GET, POST, OPTIONS",
      "access-control-allow-headers": "content-type, x-visitor-token, x-publishable-key",
      "access-control-max-age": "600",
      vary: "Origin",
    });
    expect(await got.text()).toBe("");
  });

  test.each([
    ["none", null],
    ["null", "null"],
    ["a suffix", "https://shop.example.evil.com"],
    ["a prefix", "https://evilshop.example"],
    ["a trailing dot", "https://shop.example."],
    ["upper case", "https://SHOP.example"],
    ["http", "http://shop.example"],
    ["its default port", "https://shop.example:443"],
    ["another port", "https://shop.example:8443"],
    ["as user", "https://shop.example@evil.com"],
    ["a trailing slash", "https://shop.example/"],
    ["4 KB", `https://${"x".repeat(4096)}`],
    ["a list", "https://shop.example, https://other.example"],
    ["unicode", "https://münchen.example"],
  ])("%s is no known origin: 403, empty, without CORS headers", async (_row, origin) => {
    const { ask, post, newToken } = await startService();
    const token = await newToken();
    const got = await ask(preflight(origin));
    expect([got.status, got.headers]).toEqual([403, noCors]);
    const headers = origin === null ? {} : { origin };
    const posted = await ask({
      method: "POST",
      path: "/v1/widget/threads",
      headers: { ...headers, "x-visitor-token": token },
    });
    expect([posted.status, posted.headers]).toEqual([403, noCors]);
    expect((await post("/v1/widget/threads", "", { headers: { "x-visitor-token": token } })).status).toBe(
      201,
    );
  });

  test("a disabled channel's preflight is 204, its POST 403; a transport channel's origin is none", async () => {
    const { ask, post, store, renew } = await startService();
    await store.putChannel({ ...shop, enabled: false });
    await store.putChannel({ ...cli, allowedOrigins: ["https://cli.example"] });
    await renew();
    expect((await ask(preflight(ORIGIN))).status).toBe(204);
    expect((await ask(preflight("https://cli.example"))).status).toBe(403);
    const got = await post("/v1/widget/visitors", "", { headers: { "x-publishable-key": "pk_shop" } });
    expect([got.status, got.headers["access-control-allow-origin"]]).toEqual([403, ORIGIN]);
  });

  test("another channel's origin is 403 without CORS headers, even where it is known", async () => {
    const { post, newToken } = await startService();
    const headers = { origin: "https://other.example", "x-visitor-token": await newToken() };
    const got = await post("/v1/widget/threads", "", { headers });
    expect([got.status, got.headers]).toEqual([403, noCors]);
  });

  test("refusals, unknown paths and outages can be read by the page", async () => {
    const { post, ask, store, newToken } = await startService();
    const token = await newToken();
    const unknown = await post("/v1/widget/threads", "", {
      headers: { "x-visitor-token": `vt_shop_${"A".repeat(43)}` },
    });
    const missing = await ask({ path: "/v1/widget/nowhere", headers: { origin: ORIGIN } });
    const tooLong = await post("/v1/widget/threads", "", { contentLength: 131_073 });
    await store.close();
    const down = await post("/v1/widget/threads", "", { headers: { "x-visitor-token": token } });
    expect([unknown, missing, tooLong].map((got) => got.status)).toEqual([401, 404, 413]);
    expect(down.status).toBe(503);
    for (const got of [unknown, missing, tooLong, down]) {
      expect(got.headers).toMatchObject({ "access-control-allow-origin": ORIGIN, vary: "Origin" });
      expect(await got.text()).toBe("");
    }
  });

  test("a same-origin GET needs no Origin, by the Host of its channel; a POST does", async () => {
    const { ask, newToken, newThread } = await startService();
    const token = await newToken();
    const threadId = await newThread(token);
    const sent = (host: string, site: string) => ({
      path: `/v1/widget/threads/${threadId}/messages`,
      headers: { host, "sec-fetch-site": site, "x-visitor-token": token },
    });
    const statuses = async (requests: Partial<Sent>[]) => {
      const got = await Promise.all(requests.map((request) => ask(request)));
      return got.map(({ status }) => status);
    };
    expect(
      await statuses([
        sent("shop.example", "same-origin"),
        sent("other.example", "same-origin"),
        sent("evil.example", "same-origin"),
        sent("shop.example", "cross-site"),
        { ...sent("shop.example", "same-origin"), method: "POST", path: "/v1/widget/threads" },
      ]),
    ).toEqual([200, 403, 403, 403, 403]);
  });

  test("one origin in two channels: the visitor is of the key's channel", async () => {
    const { newToken, store, renew } = await startService();
    await store.putChannel({ ...shop, slug: "second", publishableKey: "pk_second" });
    await renew();
    expect(await newToken({ headers: { "x-publishable-key": "pk_second" } })).toMatch(/^vt_second_/);
    expect(await newToken()).toMatch(/^vt_shop_/);
  });
});

describe("credentials", () => {
  test.each([
    ["missing", undefined],
    ["wrong", "Bearer wrong"],
    ["a prefix", `Bearer ${TRANSPORT_KEY.slice(0, -1)}`],
    ["one byte longer", `Bearer ${TRANSPORT_KEY}x`],
    ["empty", "Bearer "],
    ["a secret key", "Bearer sk_shop_secret"],
    ["a publishable key", "Bearer pk_shop"],
    ["another scheme", `Basic ${TRANSPORT_KEY}`],
    ["more than a key", `Bearer ${TRANSPORT_KEY} extra`],
    ["no scheme", TRANSPORT_KEY],
  ])("%s: 401 Unauthorized", async (_row, authorization) => {
    const { post, agent } = await startService();
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    for (const path of ["/v1/messages", "/v1/access", "/v1/messages/cancel"]) {
      const got = await post(path, said, { headers });
      expect([got.status, await got.text()]).toEqual([401, "Unauthorized"]);
    }
    expect(agent.turns).toBe(0);
  });

  test("the scheme's case and further spaces do not matter", async () => {
    const { post } = await startService();
    const asked = { channel: "cli", externalUserId: "u" };
    for (const authorization of [`bearer ${TRANSPORT_KEY}`, `Bearer  ${TRANSPORT_KEY}`]) {
      expect((await post("/v1/access", asked, { headers: { authorization } })).status).toBe(200);
    }
  });

  test("a publishable key of no channel is 401; A09 so is a token with a changed bit, slug or prefix", async () => {
    const { post, newToken } = await startService();
    expect(
      (await post("/v1/widget/visitors", "", { headers: { "x-publishable-key": "pk_no" } })).status,
    ).toBe(401);
    expect((await post("/v1/widget/visitors", "")).status).toBe(401);
    const token = await newToken();
    const bit = token.endsWith("A") ? "B" : "A";
    for (const wrong of [
      token.slice(0, -1) + bit,
      token.replace("shop", "other"),
      token.replace("vt_", "xt_"),
    ]) {
      expect((await post("/v1/widget/threads", "", { headers: { "x-visitor-token": wrong } })).status).toBe(
        401,
      );
    }
    expect((await post("/v1/widget/threads", "", { headers: { "x-visitor-token": token } })).status).toBe(
      201,
    );
  });

  test("P16: a token lives exactly its lifetime after its last use", async () => {
    const { post, newToken, clock } = await startService();
    const token = await newToken();
    const use = async () =>
      (await post("/v1/widget/threads", "", { headers: { "x-visitor-token": token } })).status;
    clock.nowMs += 86_400_000 - 1;
    expect(await use()).toBe(201);
    clock.nowMs += 86_400_000 - 1;
    expect(await use()).toBe(201);
    clock.nowMs += 86_400_000 + 1;
    expect(await use()).toBe(401);
  });

  test("an unknown channel is 404, and an access check says so", async () => {
    const { post, store, agent } = await startService();
    const access = await post("/v1/access", { channel: "none", externalUserId: "u" }, { headers: bearer });
    expect([access.status, await access.text()]).toEqual([404, "Unknown channel"]);
    expect((await post("/v1/messages", { ...said, channel: "none" }, { headers: bearer })).status).toBe(404);
    expect(
      (await post("/v1/messages/cancel", { ...said, channel: "none" }, { headers: bearer })).status,
    ).toBe(404);
    expect((await post("/v1/messages/cancel", said, { headers: bearer })).status).toBe(204);
    expect(await store.findUser("cli", "u")).toBeNull();
    expect(agent.turns).toBe(0);
  });

  test("P12, P13: a blocked, unlisted or disabled user is 403, empty, and the model is not called", async () => {
    const { post, store, agent, newToken } = await startService();
    const status = async () => {
      const got = await post("/v1/messages", said, { headers: bearer });
      return [got.status, await got.text()];
    };
    const access = async () =>
      (await post("/v1/access", { channel: "cli", externalUserId: "u" }, { headers: bearer })).json();
    expect(await access()).toMatchObject({ allowed: true });
    const user = await store.findUser("cli", "u");
    await store.flagUser("cli", user?.userId ?? "", { blocked: true });
    expect([await status(), await access()]).toEqual([[403, ""], { allowed: false, userId: user?.userId }]);
    await store.flagUser("cli", user?.userId ?? "", { blocked: false });
    await store.putChannel({ ...cli, accessMode: "whitelist" });
    expect(await status()).toEqual([403, ""]);
    await store.putChannel({ ...cli, enabled: false });
    expect(await status()).toEqual([403, ""]);
    // Nothing is left of what was refused.
    expect(await store.threads("cli", user?.userId ?? "")).toEqual([]);

    await store.putChannel({ ...shop, accessMode: "whitelist" });
    const token = await newToken();
    expect((await post("/v1/widget/threads", "", { headers: { "x-visitor-token": token } })).status).toBe(
      403,
    );
    expect(agent.turns).toBe(0);
  });
});

describe("threads of the account", () => {
  test.each([
    ["my thread", "my%20thread"],
    ["a-thread-of-22-letters", "a-thread-of-22-letters"],
  ])(
    "the account's thread %j of the server API is the same thread on the widget API",
    async (threadId, inPath) => {
      const { post, ask, agent, newToken } = await startService();
      const got = await post(
        "/v1/messages",
        { threadId, userId: "acc", text: "Hi", channel: "shop" },
        { headers: bearer },
      );
      (await agent.turn()).finish();
      await got.lines();
      const token = await newToken();
      await post(
        "/v1/channels/shop/identify",
        { visitorToken: token, externalUserId: "acc" },
        { headers: { authorization: "Bearer sk_shop_secret" } },
      );
      const headers = { origin: ORIGIN, "x-visitor-token": token };
      const history = await ask({ path: `/v1/widget/threads/${inPath}/messages`, headers });
      expect((await ask({ path: `/v1/widget/threads/${inPath}/stream`, headers })).status).toBe(200);
      expect(await history.json()).toMatchObject({ items: [{ content: "Hi" }, { role: "assistant" }] });
      const again = await post("/v1/widget/messages", { threadId, text: "again" }, { headers });
      expect(again.status).toBe(200);
      const turn = await agent.turn();
      expect(turn.turn.before.map(({ content }) => content)).toEqual(["Hi", ""]);
      turn.finish();
    },
  );
});

describe("rate limits (P21)", () => {
  const on = (token: string) => ({ headers: { "x-visitor-token": token } });
  const noTools = (threadId: string) => ({ threadId, webmcpTools: [] });

  test("the 11th use of a token in a minute is 429 until the window ends; /tools counts with /messages, failures count", async () => {
    const { post, newToken, newThread, clock, agent } = await startService();
    const token = await newToken();
    const threadId = await newThread(token);
    for (let use = 0; use < 5; use++) {
      expect((await post("/v1/widget/tools", noTools(threadId), on(token))).status).toBe(204);
    }
    expect((await post("/v1/widget/messages", "no json", on(token))).status).toBe(422);
    expect((await post("/v1/widget/messages", { threadId, text: "x".repeat(2001) }, on(token))).status).toBe(
      413,
    );
    expect((await post("/v1/widget/messages", { threadId: "none", text: "x" }, on(token))).status).toBe(404);
    for (let use = 0; use < 2; use++) await post("/v1/widget/tools", noTools(threadId), on(token));
    const got = await post("/v1/widget/messages", { threadId, text: "x" }, on(token));
    expect([got.status, await got.text()]).toEqual([429, ""]);
    expect(got.headers).toMatchObject({
      "retry-after": "55",
      "access-control-allow-origin": ORIGIN,
      "access-control-expose-headers": "retry-after, x-run-id",
    });
    expect((await post("/v1/widget/tool-results", {}, on(token))).status).toBe(422);
    expect(agent.turns).toBe(0);
    clock.nowMs += 55_000;
    expect((await post("/v1/widget/tools", noTools(threadId), on(token))).status).toBe(204);
  });

  test("31 messages of one address over four tokens; L03 refused ones do not count", async () => {
    const { post, newToken } = await startService();
    const tokens = await Promise.all([1, 2, 3, 4].map(() => newToken()));
    const foreign = { origin: "https://other.example" };
    const statuses: number[] = [];
    for (let use = 0; use < 31; use++) {
      const token = tokens[Math.floor(use / 8)] ?? "";
      await post("/v1/widget/tools", {}, { headers: { "x-visitor-token": token, ...foreign } });
      statuses.push((await post("/v1/widget/tools", {}, on(token))).status);
    }
    expect(statuses).toEqual([...Array.from({ length: 30 }, () => 422), 429]);
    expect(
      (await post("/v1/widget/tools", {}, { ...on(tokens[3] ?? ""), address: "192.0.2.2" })).status,
    ).toBe(422);
  });

  test("reads have rates of their own: histories and streams again, by token and by address", async () => {
    const { ask, newToken, newThread } = await startService({
      WIDGET_READS_PER_MINUTE: "3",
      WIDGET_IP_READS_PER_MINUTE: "5",
    });
    const [one, two] = [await newToken(), await newToken()];
    const threads = { [one]: await newThread(one), [two]: await newThread(two) };
    const read = async (token: string, what: string, address = "192.0.2.7") => {
      const path = `/v1/widget/threads/${threads[token]}/${what}`;
      return (await ask({ path, address, headers: { origin: ORIGIN, "x-visitor-token": token } })).status;
    };
    expect([await read(one, "messages"), await read(one, "stream"), await read(one, "messages")]).toEqual([
      200, 204, 200,
    ]);
    expect([await read(one, "messages"), await read(one, "stream")]).toEqual([429, 429]);
    expect([await read(two, "messages"), await read(two, "messages"), await read(two, "messages")]).toEqual([
      200, 200, 429,
    ]);
    expect(await read(two, "messages", "192.0.2.8")).toBe(200);
  });

  test("the 121st tool result, the 31st thread, the 21st visitor", async () => {
    const { post, newToken } = await startService();
    const token = await newToken();
    const last = async (times: number, path: string, headers: Record<string, string>) => {
      const statuses = [];
      for (let use = 0; use < times; use++) statuses.push((await post(path, {}, { headers })).status);
      return [...new Set(statuses.slice(0, -1)), statuses.at(-1)];
    };
    expect(await last(121, "/v1/widget/tool-results", { "x-visitor-token": token })).toEqual([422, 429]);
    expect(await last(31, "/v1/widget/threads", { "x-visitor-token": token })).toEqual([201, 429]);
    expect(await last(20, "/v1/widget/visitors", { "x-publishable-key": "pk_shop" })).toEqual([201, 429]);
  });

  test("a whole /64 is one address; F13 a blocked address stays blocked whatever its headers say", async () => {
    const { post, newToken, store, renew } = await startService({ WIDGET_IP_MESSAGES_PER_MINUTE: "1" });
    const token = await newToken();
    const from = async (address: string, more: Record<string, string> = {}) =>
      (await post("/v1/widget/tools", {}, { headers: { ...on(token).headers, ...more }, address })).status;
    expect(await from("2001:db8::1")).toBe(422);
    expect(await from("2001:0db8:0:0:ffff::9")).toBe(429);
    expect(await from("2001:db8:0:1::1")).toBe(422);
    await store.blockIp("198.51.100.0/24");
    await renew();
    expect(await from("198.51.100.7", { "x-forwarded-for": "192.0.2.9" })).toBe(403);
    expect(await from("::ffff:198.51.100.7")).toBe(403);
  });
});

test("a declared length of 131072 is handled, 131073 is 413, on every widget route", async () => {
  const { ask } = await startService();
  const headers = { origin: ORIGIN };
  for (const [method, path, within] of [
    ["POST", "/v1/widget/threads", 401],
    ["GET", "/v1/widget/threads/x/messages", 401],
    ["OPTIONS", "/v1/widget/messages", 204],
  ] as const) {
    expect((await ask({ method, path, headers, contentLength: 131_072 })).status).toBe(within);
    expect((await ask({ method, path, headers, contentLength: 131_073 })).status).toBe(413);
  }
});

test("P24: a store that is gone is a 503 with retry-after, not a hang", async () => {
  const { post, logged } = await startService({}, { visitors: visitorsThat(unreachable) });
  const got = await post("/v1/widget/visitors", "", { headers: { "x-publishable-key": "pk_shop" } });
  expect([got.status, got.headers["retry-after"], await got.text()]).toEqual([503, "1", ""]);
  expect(logged.filter((line) => line.includes('"status":503'))).toHaveLength(1);
});

test("what a newer version wrote is a 503 with retry-after, and no fault", async () => {
  const newer = async () => {
    throw new NewerRecord("visitor chart's snapshot", "shop", 99);
  };
  const { post, logged } = await startService({}, { visitors: visitorsThat(newer) });
  const got = await post("/v1/widget/visitors", "", { headers: { "x-publishable-key": "pk_shop" } });
  expect([got.status, got.headers["retry-after"], await got.text()]).toEqual([503, "1", ""]);
  expect(logged.filter((line) => line.includes("cannot answer a request"))).toEqual([]);
});

test("P30: a bug is an empty 500, logged once, and tells the client nothing", async () => {
  const broken = async () => {
    throw new Error("a bug with a secret in it");
  };
  const { post, logged, answered } = await startService({}, { visitors: visitorsThat(broken) });
  const got = await post("/v1/widget/visitors", "", { headers: { "x-publishable-key": "pk_shop" } });
  expect([got.status, await got.text()]).toEqual([500, ""]);
  expect(logged.filter((line) => line.includes("a bug with"))).toHaveLength(1);
  expect(answered).toEqual([{ route: "/v1/widget/visitors", status: 500, ms: expect.any(Number) }]);
});

const visitorsThat = (fail: () => Promise<never>): Visitors => ({
  mint: fail,
  admit: fail,
  identify: fail,
  revoke: fail,
  renamedThreads: fail,
});

async function unreachable(): Promise<never> {
  const { StoreUnavailable } = await import("../../../src/store.ts");
  throw new StoreUnavailable("mint a visitor");
}
