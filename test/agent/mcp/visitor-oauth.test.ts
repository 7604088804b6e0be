// For src/agent/mcp/sign-in/visitor-oauth.ts, src/agent/mcp/sign-in/visitor-sessions.ts, src/agent/mcp/sign-in/sign-in-tool.ts,
// src/http/mcp-sign-in.ts, src/domain/channels/mcp-client.ts, src/stores/records/channel-record.ts
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { agentSchema } from "../../../src/domain/channels/channel-fields.ts";
import { exportUser } from "../../../src/operators/export-user.ts";
import { channelKind } from "../../../src/stores/records/channel-record.ts";
import { shopChannel } from "../../models/shopper.ts";
import { call } from "../../support/servers/model-server.ts";
import { followTo } from "../../support/servers/openid-provider.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { sendMessage, startTestService, TEST_KEY } from "../../support/servers/service.ts";
import type { Line } from "../../../machines/line.ts";
import { until } from "../../support/until.ts";
import { openServer, tool } from "./sessions.ts";
import { openVisitorAuthServer } from "./visitor-auth-server.ts";

const PUBLIC_URL = "http://127.0.0.1:1";
const CALLBACK = `${PUBLIC_URL}/v1/mcp/oauth/callback`;

/** A service, an MCP server that wants its visitors' tokens, and the authorization server that gives them. */
async function openShop(more: { oauth?: object; clients?: object[]; env?: Record<string, string> } = {}) {
  const auth = await openVisitorAuthServer(more.clients as never);
  const server = await openServer([[tool("orders")]], () => {
    const [, token = ""] = String(server.headers["authorization"]).split(" ");
    return Promise.resolve({ content: [{ type: "text", text: `orders of ${auth.tokens.get(token)}` }] });
  });
  server.tokens = { has: (token: string) => auth.tokens.has(token) } as ReadonlySet<string>;
  server.issuer = auth.issuer;
  const { model, server: asked } = await openScriptedModel((request) => {
    const messages = request.body.messages;
    if (messages.at(-1)?.role === "tool") return "Fine.";
    const names = JSON.stringify(request.body.tools ?? []);
    return [call(names.includes('"orders"') ? "orders" : "sign_in")];
  });
  const oauth = { perUser: true as const, issuer: auth.issuer, scope: "tools", ...more.oauth };
  const service = await startTestService({
    model,
    channels: [shopChannel({ mcpServers: { crm: { url: server.url, oauth } } })],
    // Whoever does not come back is not waited for.
    env: { MCP_PRIVATE: "on", PUBLIC_URL, TOOL_RESULT_TIMEOUT_SECONDS: "1", ...more.env },
  });
  let nth = 0;
  return {
    auth,
    server,
    service,
    asked,
    /** The steps' texts of a message, and what the model read of the tool. */
    say: async (userId: string) => {
      const threadId = `t${(nth += 1)}`;
      const message = { threadId, userId, text: "My orders?", channel: "shop" };
      const { lines } = await sendMessage(service.url, message);
      const result = asked.requests.at(-1)?.body.messages.at(-1)?.content;
      const shown = lines.flatMap((line) =>
        line.type === "step" && line.phase !== "running" ? [line.text] : [],
      );
      return { shown: shown[0] ?? "", result: typeof result === "string" ? result : "" };
    },
    /** A message whose lines are read as they come. */
    begin: async (userId: string, threadId: string) => {
      const response = await fetch(`${service.url}/v1/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ threadId, userId, text: "My orders?", channel: "shop" }),
      });
      const lines: Line[] = [];
      const over = (async () => {
        let rest = "";
        for await (const piece of (response.body ?? new ReadableStream()).pipeThrough(
          new TextDecoderStream(),
        )) {
          const parts = (rest + piece).split("\n");
          rest = parts.pop() ?? "";
          lines.push(...parts.filter(Boolean).map((part) => JSON.parse(part) as Line));
        }
      })();
      const links = () =>
        lines.flatMap((line) => (line.type === "step" && line.text.startsWith("http") ? [line] : []));
      await until(
        "a link is shown, or it is over",
        () => links().length > 0 || lines.at(-1)?.type === "done",
      );
      return { lines, over, links };
    },
    comeBack: async (query: string) => {
      const response = await fetch(`${service.url}/v1/mcp/oauth/callback?${query}`);
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
  };
}

describe("a server at which visitors sign in", () => {
  it("is used with the token of who signed in by the link of the step, and of nobody else", async () => {
    const { auth, say, comeBack, service } = await openShop();
    const first = await say("ann");
    const link = new URL(first.shown);
    expect(link.origin).toBe(auth.issuer);
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: CALLBACK,
      state: expect.stringMatching(/^shop\.[\w-]{43}$/),
    });
    expect(first.result).toContain("The visitor must sign in first");
    expect(first.result).not.toContain(auth.issuer);

    auth.person = "ann of the crm";
    const back = await comeBack(await followTo(CALLBACK, first.shown));
    expect([back.status, back.text]).toEqual([200, expect.stringContaining("You are signed in")]);
    expect(back.headers.get("referrer-policy")).toBe("no-referrer");
    expect((await say("ann")).result).toBe("orders of ann of the crm");

    // Another visitor has nothing of it.
    const other = await say("ben");
    expect(other.shown).toContain(auth.issuer);
    auth.person = "ben of the crm";
    await comeBack(await followTo(CALLBACK, other.shown));
    expect((await say("ben")).result).toBe("orders of ben of the crm");
    expect((await say("ann")).result).toBe("orders of ann of the crm");
    expect(service.logged.join("\n")).not.toContain([...auth.tokens.keys()][0]);
  });

  it("takes each link once, and only with what its authorization server gave", async () => {
    const { auth, say, comeBack, server } = await openShop();
    const { shown } = await say("ann");
    const query = await followTo(CALLBACK, shown);
    const forged = new URLSearchParams(query);
    forged.set("state", `shop.${"A".repeat(43)}`);
    expect((await comeBack(forged.toString())).status).toBe(410);
    expect((await comeBack("state=shop&code=x")).status).toBe(410);
    expect((await comeBack("")).status).toBe(200);
    expect((await comeBack(query)).status).toBe(200);
    expect((await comeBack(query)).status).toBe(410);
    expect(auth.asked).toHaveLength(1);

    // A code that is none: the link is used up, and nobody is signed in.
    const second = await say("ben");
    const wrong = new URLSearchParams(await followTo(CALLBACK, second.shown));
    wrong.set("code", "guessed");
    expect((await comeBack(wrong.toString())).status).toBe(502);
    expect((await say("ben")).shown).toContain(auth.issuer);
    expect(server.calls).toHaveLength(0);
  });

  it("a visitor who says no is not signed in, and may begin again", async () => {
    const { auth, say, comeBack } = await openShop();
    auth.person = null;
    const refused = await comeBack(await followTo(CALLBACK, (await say("ann")).shown));
    expect([refused.status, refused.text]).toEqual([200, expect.stringContaining("You were not signed in")]);
    auth.person = "ann of the crm";
    await comeBack(await followTo(CALLBACK, (await say("ann")).shown));
    expect((await say("ann")).result).toBe("orders of ann of the crm");
  });

  it("refreshes a token that is no longer taken, and asks the visitor again when it cannot", async () => {
    const { auth, say, comeBack } = await openShop();
    await comeBack(await followTo(CALLBACK, (await say("ann")).shown));
    expect((await say("ann")).result).toBe("orders of kim");
    auth.tokens.clear();
    expect((await say("ann")).result).toBe("orders of kim");
    expect(auth.asked.map((form) => form["grant_type"])).toEqual(["authorization_code", "refresh_token"]);
    auth.tokens.clear();
    expect((await say("ann")).result).toBe("orders of kim");
    // The grant is over.
    auth.tokens.clear();
    auth.isOver = true;
    expect((await say("ann")).shown).toContain(auth.issuer);
  });

  it("is waited for: who signs in while the run waits reads the answer in the same stream", async () => {
    const { auth, begin, comeBack, asked } = await openShop({
      // Far less than it waits: such time is not the run's.
      env: { TOOL_RESULT_TIMEOUT_SECONDS: "60", RUN_TIMEOUT_SECONDS: "2" },
    });
    const { lines, over, links } = await begin("ann", "t1");
    const [shown] = links();
    expect(shown).toMatchObject({ id: "sign_in", phase: "running" });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(lines.at(-1)).toBe(shown);
    auth.person = "ann of the crm";
    await comeBack(await followTo(CALLBACK, shown?.text ?? ""));
    await over;
    expect(lines.at(-1)).toMatchObject({ type: "done" });
    expect(lines.flatMap((line) => (line.type === "step" ? [[line.id, line.phase]] : []))).toEqual([
      ["sign_in", "running"],
      ["sign_in", "running"],
      ["sign_in", "done"],
    ]);
    expect(asked.requests.at(-1)?.body.messages.at(-1)?.content).toBe(
      "The visitor is signed in. Its tools can be called now.",
    );
    expect(links()).toHaveLength(1);
  });

  it("a call of a tool is made once more when the visitor has come back", async () => {
    const { auth, begin, comeBack, say, asked } = await openShop({
      env: { TOOL_RESULT_TIMEOUT_SECONDS: "60" },
    });
    const first = await begin("ben", "t0");
    await comeBack(await followTo(CALLBACK, first.links()[0]?.text ?? ""));
    await first.over;
    expect((await say("ben")).result).toBe("orders of kim");
    // The grant ends while the tool is known.
    auth.tokens.clear();
    auth.isOver = true;
    const { over, links, lines } = await begin("ben", "t9");
    expect(links()[0]).toMatchObject({ id: "orders", phase: "running" });
    auth.isOver = false;
    auth.person = "ben again";
    await comeBack(await followTo(CALLBACK, links()[0]?.text ?? ""));
    await over;
    expect(lines.at(-1)).toMatchObject({ type: "done" });
    expect(asked.requests.at(-1)?.body.messages.at(-1)?.content).toBe("orders of ben again");
  });

  it("is not waited for any longer once the visitor has refused", async () => {
    const { auth, begin, comeBack, asked } = await openShop({ env: { TOOL_RESULT_TIMEOUT_SECONDS: "600" } });
    const { over, lines, links } = await begin("ann", "t1");
    auth.person = null;
    await comeBack(await followTo(CALLBACK, links()[0]?.text ?? ""));
    await over;
    expect(lines.at(-1)).toMatchObject({ type: "done" });
    expect(asked.requests.at(-1)?.body.messages.at(-1)?.content).toContain("The visitor must sign in first");
  }, 40_000);

  it("two conversations of one visitor wait for one sign-in; a stopped one waits no longer", async () => {
    const { begin, comeBack, service } = await openShop({ env: { TOOL_RESULT_TIMEOUT_SECONDS: "600" } });
    const [one, other, stopped] = await Promise.all(
      ["a", "b", "c"].map((threadId) => begin("ann", threadId)),
    );
    expect(new Set([one, other, stopped].map((each) => each?.links()[0]?.text)).size).toBe(1);
    const cancelled = await fetch(`${service.url}/v1/messages/cancel`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ threadId: "c", userId: "ann", channel: "shop" }),
    });
    expect(cancelled.status).toBe(204);
    await stopped?.over;
    expect(stopped?.lines.at(-1)).toMatchObject({ type: "error", code: "cancelled" });
    await comeBack(await followTo(CALLBACK, one?.links()[0]?.text ?? ""));
    await Promise.all([one?.over, other?.over]);
    for (const each of [one, other]) expect(each?.lines.at(-1)).toMatchObject({ type: "done" });
  });

  it("goes with the user: who is deleted has to sign in again", async () => {
    const { say, comeBack, service } = await openShop();
    await comeBack(await followTo(CALLBACK, (await say("ann")).shown));
    const user = await service.store.findUser("shop", "ann");
    expect(await service.store.grantedServers("shop", user?.userId ?? "")).toEqual(["crm"]);
    await service.store.unlistUser({ kind: "user", slug: "shop", id: user?.userId ?? "", atMs: 9 });
    expect(await service.store.grantedServers("shop", user?.userId ?? "")).toEqual([]);
    expect((await say("ann")).result).toContain("The visitor must sign in first");
  });

  it("is exported as the server's name, and without a token", async () => {
    const { auth, say, comeBack, service } = await openShop();
    await comeBack(await followTo(CALLBACK, (await say("ann")).shown));
    const user = await service.store.findUser("shop", "ann");
    const lines: unknown[] = [];
    const acting = { store: service.store, clock: systemClock, operator: "command line" as const };
    for await (const line of await exportUser(acting, "shop", user!, async () => [])) lines.push(line);
    expect(lines[1]).toEqual({ type: "signIn", server: "crm" });
    expect(JSON.stringify(lines)).not.toContain([...auth.tokens.keys()][0]);
  });

  it("an authorization server can read which client that is, if PUBLIC_URL is set", async () => {
    const { service } = await openShop();
    const response = await fetch(`${service.url}/v1/mcp/oauth/client`);
    expect(await response.json()).toMatchObject({
      client_id: `${PUBLIC_URL}/v1/mcp/oauth/client`,
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: "none",
    });
    const { url } = await startTestService();
    for (const path of ["client", "callback"]) {
      expect((await fetch(`${url}/v1/mcp/oauth/${path}`)).status).toBe(404);
    }
  });

  it("uses the client of its settings, whose secret goes to the issuer of the settings alone", async () => {
    const client = {
      client_id: "chat",
      client_secret: "s3cret-s3cret-s3cret-s3cret-s3cret",
      redirect_uris: [CALLBACK],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    };
    const oauth = { clientId: client.client_id, clientSecret: client.client_secret };
    const { auth, say, comeBack, server } = await openShop({ clients: [client], oauth });
    const { shown } = await say("ann");
    expect(new URL(shown).searchParams.get("client_id")).toBe("chat");
    await comeBack(await followTo(CALLBACK, shown));
    expect((await say("ann")).result).toBe("orders of kim");
    expect(auth.registered).toEqual([]);
    // The MCP server names another authorization server.
    server.issuer = (await openVisitorAuthServer()).issuer;
    auth.tokens.clear();
    expect((await say("ben")).shown).not.toContain("http");
  });
});

it("settings that cannot be used are refused", () => {
  const parse = (oauth: object) =>
    agentSchema.safeParse({ mcpServers: { crm: { url: "https://crm.example/mcp", oauth } } }).success;
  expect(parse({ perUser: true })).toBe(true);
  expect(parse({ perUser: true, clientId: "$ID", issuer: "https://auth.example" })).toBe(true);
  // The secret has to have a place to go to.
  expect(parse({ perUser: true, clientId: "$ID", clientSecret: "$SECRET" })).toBe(false);
  expect(parse({ perUser: false, clientId: "$ID", clientSecret: "$S", issuer: "https://a.example" })).toBe(
    false,
  );
  expect(parse({ clientId: "$ID" })).toBe(false);
});

it("a channel with such a server is stored as version 2, and any other as version 1 reads it", () => {
  const stored = (oauth: object) =>
    channelKind.stored(
      shopChannel({ mcpServers: { crm: { url: "https://crm.example/mcp", oauth } } } as never),
    );
  expect(stored({ perUser: true })).toMatchObject({ v: 2 });
  expect(stored({ clientId: "$ID", clientSecret: "$S", issuer: "https://a.example" })).not.toHaveProperty(
    "v",
  );
  expect(channelKind.read(stored({ perUser: true }), "shop")).toMatchObject({
    agent: { mcpServers: { crm: { oauth: { perUser: true } } } },
  });
});
