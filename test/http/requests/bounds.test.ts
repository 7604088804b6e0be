// For src/http/, src/admission/
import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { RateUse } from "../../../src/admission/rate-windows.ts";
import { asFastAsRead } from "../../../src/http/as-fast-as-read.ts";
import type { Credential, Documentation, Route } from "../../../src/http/route.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import type { HttpRequest, Outlet } from "../../../src/listener.ts";
import { freeSizes } from "../client-sizes.ts";
import { ORIGIN, startService } from "../service.ts";
import type { Service } from "../service.ts";

/** What a request may cost, of every route there is: before its sender is known, and by what its sender chooses. */
const LONG = 5_000;
const UNKNOWN_TOKEN = `vt_shop_${"x".repeat(43)}`;

/** A request of a route by its own example, with a long body, and what of it was read. */
function exampleOf(route: Route, documentation: Documentation, credentials: Record<string, string>) {
  const { params, query, body } = documentation;
  const read = { bodies: 0 };
  const text = JSON.stringify({ ...(body?.example as object), more: "x".repeat(LONG) });
  const request: HttpRequest = {
    method: route.method,
    path: route.path,
    query: new URLSearchParams(
      Object.fromEntries(Object.entries(query).map(([name, { example }]) => [name, String(example)])),
    ).toString(),
    headers: new Map(Object.entries({ "content-type": "application/json", ...credentials })),
    address: "192.0.2.1",
    contentLength: text.length,
    async body() {
      read.bodies++;
      return Buffer.from(text);
    },
  };
  const given = Object.fromEntries(
    Object.entries(params).map(([name, { example }]) => [name, String(example)]),
  );
  return { request, read, incoming: { request, params: given, traceparent: null, note() {} } };
}

const wrong: Record<Credential, Record<string, string>> = {
  transportKey: { authorization: "Bearer wrong" },
  secretKey: { authorization: "Bearer sk_wrong" },
  operatorKey: { authorization: "Bearer op_wrong" },
  publishableKey: { origin: ORIGIN, "x-publishable-key": "pk_wrong" },
  visitorToken: { origin: ORIGIN, "x-visitor-token": UNKNOWN_TOKEN },
};

function watchStore({ store }: Service): () => number {
  const spies = Object.entries(store).flatMap(([name, value]) =>
    typeof value === "function" ? [vi.spyOn(store, name as "channel")] : [],
  );
  return () => spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
}

function documented(routes: readonly Route[]): [Route, Documentation][] {
  return routes.flatMap((route): [Route, Documentation][] =>
    route.documentation === "hidden" ? [] : [[route, route.documentation]],
  );
}

async function refusalOf(route: Route, incoming: Parameters<Route["handle"]>[0]): Promise<string> {
  try {
    return String((await route.handle(incoming)).status);
  } catch (error) {
    if (error instanceof Refusal) return error.reason;
    throw error;
  }
}

describe("before the sender is known", () => {
  test("no route reads a long body, and only a visitor's token is looked up", async () => {
    const service = await startService();
    const asked = watchStore(service);
    const withKey = documented(service.routes).filter(([, { credential }]) => credential !== null);
    expect(withKey.length).toBeGreaterThan(45);
    for (const [route, documentation] of withKey) {
      const credential = documentation.credential ?? "visitorToken";
      const { incoming, read } = exampleOf(route, documentation, wrong[credential]);
      const before = asked();
      const outcome = await refusalOf(route, incoming);
      const cost = { asked: asked() - before, bodies: read.bodies };
      expect([route.method, route.path, outcome, cost]).toEqual([
        route.method,
        route.path,
        "unauthorized",
        { asked: credential === "visitorToken" ? cost.asked : 0, bodies: 0 },
      ]);
      // The token, and beside it a thread by an id that nobody guesses.
      expect(cost.asked).toBeLessThanOrEqual(2);
    }
  });

  test("a body whose length nobody declared is not read either", async () => {
    const service = await startService();
    const asking = documented(service.routes).filter(([, { credential }]) => credential === "visitorToken");
    for (const [route, documentation] of asking) {
      const { incoming, read } = exampleOf(route, documentation, wrong.visitorToken);
      const undeclared = { ...incoming, request: { ...incoming.request, contentLength: null } };
      expect(await refusalOf(route, undeclared)).toBe("unauthorized");
      expect(read.bodies).toBe(0);
    }
  });

  test("who begins a sign-in, or says that it is finished, sends no more than 32 KB", async () => {
    const client = { OIDC_CLIENT_ID: "x", OIDC_CLIENT_SECRET: "y", OIDC_ROLES_CLAIM: "roles" };
    const service = await startService({ OIDC_ISSUER: "https://id.example", ...client });
    const asked = watchStore(service);
    for (const path of ["/console/sign-in", "/console/sign-in/finish"]) {
      const send = (bytes: number, more = {}) => service.post(path, " ".repeat(bytes), more);
      expect((await send(32_768)).status).toBe(422);
      expect((await send(32_769)).status).toBe(413);
      expect((await send(32_769, { contentLength: null })).status).toBe(413);
    }
    expect(asked()).toBe(0);
  });

  test("a route that needs no key asks the store once a second at most", async () => {
    const elapsed = { ms: 0 };
    const clock = { now: () => Date.UTC(2026, 10, 21), elapsed: () => elapsed.ms };
    const service = await startService({}, { clock });
    // The notice of the channel that was just made is still on its way.
    await setImmediate();
    await service.renew();
    const asked = watchStore(service);
    const open = service.routes.filter(({ api, method }) => api === "open" && method === "GET");
    expect(open.length).toBeGreaterThan(5);
    const askAll = async () => {
      for (let nth = 0; nth < 5; nth++) for (const { path } of open) await service.ask({ path });
    };
    await askAll();
    expect(asked()).toBe(1);
    elapsed.ms = 1_000;
    await askAll();
    expect(asked()).toBe(2);
  });

  test("a long answer leaves as fast as it is read", async () => {
    const service = await startService();
    const open = service.routes.filter(({ api, method }) => api === "open" && method === "GET");
    const stalled: string[] = [];
    for (const route of open) {
      const { path } = route;
      const { request, incoming } = exampleOf(route, NOTHING, {});
      const answer = asFastAsRead(await route.handle(incoming), request);
      expect(Buffer.byteLength(answer.body ?? "")).toBeLessThanOrEqual(65_536);
      if (!answer.stream) continue;
      stalled.push(path);
      let written = 0;
      answer.stream({ ...stalledOutlet, write: (chunk) => void (written += Buffer.byteLength(chunk)) });
      expect(written).toBe(65_536);
    }
    expect(stalled).toContain("/swagger/swagger-ui-bundle.js");
    expect(stalled).toContain("/swagger/openapi.json");
    const got = await service.ask({ path: "/swagger/openapi.json" });
    expect(await got.json()).toHaveProperty("openapi");
  });
});

const NOTHING: Documentation = {
  summary: "",
  description: "",
  credential: null,
  params: {},
  query: {},
  headers: {},
  body: null,
  answers: {},
};

/** Takes the first piece, and never asks for another. */
const stalledOutlet: Outlet = {
  write() {},
  end() {},
  onDrained() {},
  pull: (next) => next(),
  cut() {},
  onGone() {},
};

/** With a valid token: what ends or deletes, and reads nothing; a thread is deleted once. Each costs as little as a token that nobody knows. */
const UNCOUNTED = new Set([
  "/v1/widget/threads/:id/cancel",
  "/v1/widget/threads/:id/handoff/cancel",
  "/v1/widget/ai-sdk/chat/:id/stop",
  "/v1/widget/copilotkit/agent/:id/stop/:threadId",
  "/v1/widget/threads/:id/delete",
]);

test("no feed begins while those who read leave too much unread", async () => {
  const service = await startService({}, { isCrowded: () => true });
  const token = await service.newToken();
  const path = `/v1/widget/threads/${await service.newThread(token)}/events`;
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const { status, headers: told } = await service.ask({ path, headers });
  expect([status, told["retry-after"]]).toEqual([503, "10"]);
});

test("every use of a visitor's token counts in a rate, but what ends or deletes something", async () => {
  const used: RateUse[][] = [];
  const take = (uses: readonly RateUse[]) => {
    used.push([...uses]);
    return null;
  };
  const service = await startService({}, { windows: { take } });
  const token = await service.newToken();
  const asking = documented(service.routes).filter(([, { credential }]) => credential === "visitorToken");
  for (const [route, documentation] of asking) {
    const { incoming } = exampleOf(route, documentation, { origin: ORIGIN, "x-visitor-token": token });
    used.length = 0;
    await refusalOf(route, incoming);
    expect([route.path, used.flat().length > 0]).toEqual([route.path, !UNCOUNTED.has(route.path)]);
  }
});

const OF_THE_HEAD = "as long as a request's head may be: 16 KB";
const NAMES_SOMETHING = `${OF_THE_HEAD}; it names something, or nothing is found`;
const NAMES_IN_BODY = "of the body's length; it names something, or nothing is found";
const OF_THE_BODY = "of the body's length, which is SERVER_MAX_BODY_BYTES, from who holds a key";
const CATALOG = "WIDGET_MAX_WEBMCP_TOOLS_CHARS of the whole catalog, 413; 127 tools are offered";
const CONTEXT = "WIDGET_MAX_TEXT_CHARS of JSON, 413";

/** Whose size no schema bounds, and what does. A new field is bounded by its schema, or comes here with its reason. */
const BOUNDS: Record<string, string> = {
  "server channel": NAMES_IN_BODY,
  "server slug": NAMES_SOMETHING,
  "server fileId": NAMES_SOMETHING,
  "server name": `${OF_THE_HEAD}; 256 characters are kept`,
  "server ": "FILES_MAX_BYTES, 413",
  "server run": NAMES_SOMETHING,
  "server before": NAMES_SOMETHING,
  "server branches": "compared with `1`",
  "server after": NAMES_SOMETHING,
  "server cursor": `${OF_THE_HEAD}; a check sum, or 422`,
  "server text": `${OF_THE_BODY}; THREAD_QUEUE_MAX of them wait`,
  "server instruction": `${OF_THE_BODY}; a thread has one run at a time`,
  "server displayName": `${OF_THE_BODY}; 200 characters are kept`,
  "server attachments[].url": `${OF_THE_BODY}; of an address 2,048 characters; 4 of them`,
  "server attributes{}": "4,000 characters of JSON, 422",
  "server context{}": "WIDGET_MAX_TEXT_CHARS of JSON, 413",
  "server messageId": NAMES_IN_BODY,
  "server visitorToken": "a token's shape, or 404 without a look at the store",
  "widget origin": OF_THE_HEAD,
  "widget id": NAMES_SOMETHING,
  "widget fileId": NAMES_SOMETHING,
  "widget name": `${OF_THE_HEAD}; 256 characters are kept`,
  "widget ": "FILES_MAX_BYTES, 413",
  "widget run": NAMES_SOMETHING,
  "widget before": NAMES_SOMETHING,
  "widget branches": "compared with `1`",
  "widget after": NAMES_SOMETHING,
  "widget cursor": `${OF_THE_HEAD}; a check sum, or 422`,
  "widget threadId": NAMES_IN_BODY,
  "widget text": "WIDGET_MAX_TEXT_CHARS, 413",
  "widget attachments[].url": "WIDGET_MAX_BODY_BYTES of all; of an address 2,048 characters; 4 of them",
  "widget customerContext{}": "WIDGET_MAX_TEXT_CHARS of JSON, 413",
  "widget webmcpTools": CATALOG,
  "widget webmcpTools[].name": CATALOG,
  "widget webmcpTools[].description": CATALOG,
  "widget webmcpTools[].inputSchema.properties{}": CATALOG,
  "widget webmcpTools[].inputSchema.required": CATALOG,
  "widget webmcpTools[].inputSchema.required[]": CATALOG,
  "widget callId": NAMES_IN_BODY,
  "widget tool": NAMES_IN_BODY,
  "widget result": "2,000 deep, 422; 4,000 characters of its text are kept",
  "widget messages":
    "WIDGET_MAX_BODY_BYTES; the last one is read, its text within WIDGET_MAX_TEXT_CHARS, 413",
  "widget messages[]": "WIDGET_MAX_BODY_BYTES",
  "widget messageId": NAMES_IN_BODY,
  "widget tools{}": CATALOG,
  "widget runId": "WIDGET_MAX_BODY_BYTES; told back to who sent it",
  "widget protocolVersion": "a version, or an old one",
  "widget tools": CATALOG,
  "widget tools[].name": CATALOG,
  "widget tools[].description": CATALOG,
  "widget tools[].parameters": CATALOG,
  "widget context": CONTEXT,
  "widget context[].description": CONTEXT,
  "widget context[].value": CONTEXT,
  "widget forwardedProps": "WIDGET_MAX_BODY_BYTES; of it page and locale are read, which are bounded",
  "open live": "not read",
  "operator slug": NAMES_SOMETHING,
  "operator fileId": NAMES_SOMETHING,
  "operator id": NAMES_SOMETHING,
  "operator displayName": "64 characters, or 422",
  "operator name": `${NAMES_SOMETHING}; a new operator's is 64 characters`,
  "operator address": "an address, or 422",
  "operator before": NAMES_SOMETHING,
  "operator branches": "compared with `1`",
  "operator after": NAMES_SOMETHING,
  "operator cursor": NAMES_SOMETHING,
  "operator q": `${OF_THE_HEAD}; a page looks at 2,000 users, or 500 threads and 4 million characters`,
  "operator userId": NAMES_SOMETHING,
  "operator queue": NAMES_SOMETHING,
  "operator operator": `${OF_THE_HEAD}; a page looks at 10,000 entries`,
  "operator thread": `${OF_THE_HEAD}; a page looks at 10,000 entries`,
  "operator channel": NAMES_SOMETHING,
  "operator from": "a day, of the last 400",
  "operator to": "a day",
  "operator text": OF_THE_BODY,
  "operator channels": `${OF_THE_BODY}; each once`,
  "operator url": NAMES_IN_BODY,
  "operator addOrigins": OF_THE_BODY,
  "operator addOrigins[]": "an origin, or 422",
  "operator removeOrigins": OF_THE_BODY,
  "operator removeOrigins[]": "one of the channel's, or 422",
  "operator messenger{}": "settings of the platform, by name, or 422",
  "operator messenger.settings{}": "8,192 characters, or 422",
};

describe("what a client chooses the size of", () => {
  test("has a bound in its schema, or a known one", async () => {
    const { routes } = await startService();
    const free = new Set(routes.flatMap(freeSizes));
    // A channel's own fields are an admin's, and checked as CHANNELS_FILE is.
    for (const name of free) if (/^operator (?:agent|webhooks|\{\})/.test(name)) free.delete(name);
    expect([...free].sort()).toEqual(Object.keys(BOUNDS).sort());
  });

  test("has at most 100 items where it is a page of a list", async () => {
    const { routes } = await startService();
    const lists = documented(routes).flatMap(([{ method, path }, { query }]) =>
      query["limit"] ? [{ route: `${method} ${path}`, limit: query["limit"].schema }] : [],
    );
    expect(lists.length).toBeGreaterThan(10);
    for (const { route, limit } of lists) {
      const taken = [1, 100, 101, 1_000_000_000].map((most) => limit.safeParse(most).success);
      expect([route, taken]).toEqual([route, [true, true, false, false]]);
    }
  });
});
