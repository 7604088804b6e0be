import { afterAll, beforeAll, expect, test } from "vitest";
import { ORIGIN, SECRET_KEY } from "../http/service.ts";
import { sendRaw } from "../listeners/raw-client.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { spoken } from "./clients/ask.ts";
import type { Asking, Got } from "./clients/ask.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import type { Reach, Reached } from "./clients/reached.ts";

const bearer = { authorization: `Bearer ${TEST_KEY}` };
const secret = { authorization: `Bearer ${SECRET_KEY}` };
const json = { "content-type": "application/json" };
const said = JSON.stringify({ threadId: "t", userId: "u", text: "x" });
export const noStore = { "cache-control": "no-store" };

/** What a refusal looks like: status, headers and body, whole. */
interface Refused {
  status: number;
  headers: Record<string, string>;
  text: string;
}

/** Refused on the widget API: empty, and readable by a page of a known origin. */
export function toPage(status: number, headers: Record<string, string> = noStore, origin = ORIGIN): Refused {
  const cors = {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "retry-after, x-run-id",
  };
  return { status, headers: { ...headers, ...cors, "content-length": "0" }, text: "" };
}

/** Refused without a word: 403 and 503 of the server API, unknown paths and methods. */
function silent(status: number, headers: Record<string, string> = noStore): Refused {
  return { status, headers: { ...headers, "content-length": "0" }, text: "" };
}

const foreign = silent(403, { ...noStore, vary: "Origin" });

/** Refused on the server API, with its one line of text. */
function withText(status: number, text: string): Refused {
  const headers = {
    ...noStore,
    "content-type": "text/plain; charset=utf-8",
    "content-length": String(text.length),
  };
  return { status, headers, text };
}

/** 401 on the server API: which key opens is in the challenge. */
function wants(key: string): Refused {
  const { headers, ...refused } = withText(401, "Unauthorized");
  return { ...refused, headers: { ...headers, "www-authenticate": `Bearer realm="${key}"` } };
}

const wantsTransport = wants("the transport key (HARNESS_API_KEY)");
const wantsSecret = (slug: string) => wants(`the secret key (sk_) of the web channel ${slug}`);

const onlyPost: Refused = {
  status: 405,
  headers: {
    ...noStore,
    allow: "POST",
    "content-type": "text/plain; charset=utf-8",
    "content-length": "18",
  },
  text: "Method not allowed",
};

/** A request that sends what is good but for one thing; `TOKEN` and `THREAD` stand for a visitor's own. */
function visitor(method: string, path: string, changes: Partial<Asking> = {}): Asking {
  const headers = { origin: ORIGIN, "x-visitor-token": "TOKEN", ...json, ...changes.headers };
  return { method, path: `/v1/widget/${path}`, ...changes, headers };
}

function server(path: string, headers: Asking["headers"], body: string | Uint8Array = said): Asking {
  return { method: "POST", path, headers: { ...json, ...headers }, body };
}

/** What Python's splitlines, and others after it, take for the end of a line. */
const LINE_ENDS = ["\r\n", "\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"];

const talk = (fields: object): string => JSON.stringify({ threadId: "THREAD", text: "x", ...fields });

const rows: [string, Asking, Refused][] = [
  ["an unknown path", { path: "/nowhere" }, withText(404, "Not found")],
  [
    "an unknown path of the widget API",
    { path: "/v1/widget/nowhere", headers: { origin: ORIGIN } },
    toPage(404),
  ],
  ["GET on a POST route", { path: "/v1/messages" }, onlyPost],
  ["DELETE", visitor("DELETE", "threads/x/messages"), toPage(405, { ...noStore, allow: "GET, OPTIONS" })],
  [
    "a trailing slash",
    { method: "POST", path: "/v1/messages/", headers: bearer },
    withText(404, "Not found"),
  ],
  ["an escaped slash in an id", visitor("GET", "threads/a%2Fb/messages"), toPage(404)],
  ["a hundred segments", { path: `/v1${"/x".repeat(100)}` }, withText(404, "Not found")],
  ["OPTIONS on the server API", { method: "OPTIONS", path: "/v1/messages" }, onlyPost],
  [
    "the transport key on a widget route",
    visitor("POST", "threads", { headers: { "x-visitor-token": [], ...bearer } }),
    toPage(401),
  ],
  [
    "a visitor's token on a server route",
    server("/v1/messages", { "x-visitor-token": "TOKEN" }),
    wantsTransport,
  ],

  [
    "a form on the server API",
    server("/v1/messages", { ...bearer, "content-type": "text/plain" }),
    withText(422, "The content-type must be application/json in UTF-8"),
  ],
  [
    "a form on the widget API",
    visitor("POST", "messages", { headers: { "content-type": "text/plain" }, body: talk({}) }),
    toPage(422),
  ],
  [
    "a compressed body",
    server("/v1/messages", { ...bearer, "content-encoding": "gzip" }),
    withText(415, "Unsupported content-encoding"),
  ],
  ["a token that is none", visitor("POST", "threads", { headers: { "x-visitor-token": "x" } }), toPage(401)],

  [
    "a preflight of an unknown origin",
    { method: "OPTIONS", path: "/v1/widget/messages", headers: { origin: "https://evil.example" } },
    foreign,
  ],
  ["a preflight without origin", { method: "OPTIONS", path: "/v1/widget/messages" }, foreign],
  ["the origin null", visitor("POST", "threads", { headers: { origin: "null" } }), foreign],
  [
    "an origin with a suffix",
    visitor("POST", "threads", { headers: { origin: `${ORIGIN}.evil.com` } }),
    foreign,
  ],
  [
    "the origin of another channel",
    visitor("POST", "threads", { headers: { origin: "https://other.example" } }),
    foreign,
  ],
  [
    "no origin, with a good token",
    { method: "POST", path: "/v1/widget/threads", headers: { "x-visitor-token": "TOKEN" } },
    foreign,
  ],
  [
    "a known origin, an unknown token",
    visitor("POST", "threads", { headers: { "x-visitor-token": `vt_shop_${"A".repeat(43)}` } }),
    toPage(401),
  ],

  ["no transport key", server("/v1/access", {}), wantsTransport],
  [
    "a transport key with one byte more",
    server("/v1/messages", { authorization: `Bearer ${TEST_KEY}x` }),
    wantsTransport,
  ],
  ["a secret key on messages", server("/v1/messages", secret), wantsTransport],
  ["the transport key on identify", server("/v1/channels/shop/identify", bearer), wantsSecret("shop")],
  [
    "an unknown publishable key",
    visitor("POST", "visitors", { headers: { "x-publishable-key": "pk_none" } }),
    toPage(401),
  ],
  [
    "the publishable key of a disabled channel",
    visitor("POST", "visitors", {
      headers: { origin: "https://closed.example", "x-publishable-key": "pk_closed" },
    }),
    toPage(403, noStore, "https://closed.example"),
  ],
  ["the secret key of another channel", server("/v1/channels/other/identify", secret), wantsSecret("other")],
  ["identify on a transport channel", server("/v1/channels/cli/identify", secret), wantsSecret("cli")],
  [
    "identify on an unknown slug, with a key of another",
    server("/v1/channels/none/identify", secret),
    withText(404, "Unknown channel"),
  ],

  ["an empty body", server("/v1/messages", bearer, ""), withText(422, "The body is not JSON in UTF-8")],
  ["a body cut off", visitor("POST", "messages", { body: '{"threadId":"THREAD","text":"x"' }), toPage(422)],
  [
    "two BOMs",
    server("/v1/messages", bearer, `\ufeff\ufeff${said}`),
    withText(422, "The body is not JSON in UTF-8"),
  ],
  [
    "bytes that are no UTF-8",
    server("/v1/messages", bearer, Buffer.from(said.replace('"x"', '"\u00ff"'), "latin1")),
    withText(422, "The body is not JSON in UTF-8"),
  ],
  [
    "a field of the wrong type",
    server("/v1/messages", bearer, JSON.stringify({ threadId: "t", userId: "u", text: 1 })),
    withText(422, "The body does not match the schema: text"),
  ],
  [
    "a nested customerContext",
    visitor("POST", "messages", { body: talk({ customerContext: { a: {} } }) }),
    toPage(422),
  ],

  [
    "2,001 astral halves",
    visitor("POST", "messages", { body: talk({ text: "😀".repeat(1_001) }) }),
    toPage(413),
  ],
  ["an empty text", visitor("POST", "messages", { body: talk({ text: "" }) }), toPage(422)],

  ["a text of 2,001", visitor("POST", "messages", { body: talk({ text: "x".repeat(2_001) }) }), toPage(413)],
  [
    "a catalog of more than 20,000",
    visitor("POST", "tools", {
      body: JSON.stringify({
        threadId: "THREAD",
        webmcpTools: [{ name: "a", description: "x".repeat(20_000) }],
      }),
    }),
    toPage(413),
  ],
  ["a declared length of 131,073", visitor("POST", "threads", { body: "x".repeat(131_073) }), toPage(413)],
  [
    "a declared length of twelve digits",
    visitor("POST", "threads", { headers: { "content-length": "999999999999" } }),
    toPage(413),
  ],
  [
    "a declared length of twelve digits on the server API",
    server("/v1/messages", { ...bearer, "content-length": "999999999999" }, ""),
    withText(413, "Too large"),
  ],
  [
    "131,073 bytes in chunks",
    visitor("POST", "threads", {
      headers: { "transfer-encoding": "chunked" },
      body: "x".repeat(131_073),
    }),
    toPage(413),
  ],
  ["a page of 513", visitor("POST", "messages", { body: talk({ page: "/".repeat(513) }) }), toPage(422)],
  [
    "a body over SERVER_MAX_BODY_BYTES",
    server("/v1/messages", bearer, "x".repeat(1_048_577)),
    withText(413, "Too large"),
  ],
  [
    "an id of 257",
    server("/v1/access", bearer, JSON.stringify({ channel: "cli", externalUserId: "x".repeat(257) })),
    withText(422, "The body does not match the schema: externalUserId"),
  ],

  [
    "a thread that is not there",
    visitor("POST", "messages", { body: talk({ threadId: "none" }) }),
    toPage(404),
  ],
  [
    "an empty external id",
    server(
      "/v1/channels/shop/identify",
      secret,
      JSON.stringify({ visitorToken: "TOKEN", externalUserId: "" }),
    ),
    withText(422, "The body does not match the schema: externalUserId"),
  ],
  [
    "a call that was never issued",
    visitor("POST", "tool-results", {
      body: JSON.stringify({ threadId: "THREAD", callId: "c", tool: "t", result: 1 }),
    }),
    toPage(409),
  ],
  [
    "an unknown channel",
    server("/v1/access", bearer, JSON.stringify({ channel: "none", externalUserId: "u" })),
    withText(404, "Unknown channel"),
  ],
  [
    "a result on a thread without a call",
    visitor("POST", "tool-results", {
      body: JSON.stringify({ threadId: "THREAD", callId: "", tool: "", result: null }),
    }),
    toPage(409),
  ],
];

function filledIn(asking: Asking, given: { token: string; threadId: string }): Asking {
  const fill = (text: string) => text.replace("TOKEN", given.token).replace("THREAD", given.threadId);
  const headers = Object.entries(asking.headers ?? {}).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === "string" ? fill(value) : value,
  ]);
  const { body } = asking;
  return {
    ...asking,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body: typeof body === "string" ? fill(body) : body }),
  };
}

export const seen = ({ status, headers, text }: Got): Refused => ({ status, headers, text });

/** What the doors refuse, over real sockets: every refusal, to its last header, on both listeners. */
export function describeBadInput(reach: Reach): void {
  describeEachListener("bad input", (listener) => {
    let whole: Reached;
    let token: string;
    let threadId: string;
    beforeAll(async () => {
      whole = await reach(listener);
      token = await whole.newToken();
      threadId = await whole.newThread(token);
    });
    afterAll(() => whole.close());

    test.each(rows)("%s", async (_row, asking, expected) => {
      const before = whole.model.requests.length;
      expect(seen(await whole.ask(filledIn(asking, { token, threadId })))).toEqual(expected);
      // P13: refusals never reach the model.
      expect(whole.model.requests).toHaveLength(before);
    });

    test("a preflight of a known origin has the four headers, and vary", async () => {
      const got = await whole.ask({
        method: "OPTIONS",
        path: "/v1/widget/tool-results",
        headers: { origin: ORIGIN, "access-control-request-private-network": "true" },
      });
      expect(seen(got)).toEqual({
        status: 204,
        headers: {
          "access-control-allow-origin": ORIGIN,
          "access-control-allow-methods": "GET, POST, OPTIONS",
          "access-control-allow-headers": "content-type, x-visitor-token, x-publishable-key",
          "access-control-max-age": "600",
          vary: "Origin",
        },
        text: "",
      });
    });

    test("answers to two origins at once are never each other's", async () => {
      const origins = Array.from({ length: 40 }, (_, at) => (at % 2 ? ORIGIN : "https://other.example"));
      const got = await Promise.all(
        origins.map((origin) => whole.ask({ path: "/v1/widget/nowhere", headers: { origin } })),
      );
      expect(got.map(({ headers }) => headers["access-control-allow-origin"])).toEqual(origins);
    });

    test("what a browser adds does not matter: accept, range and conditions", async () => {
      const got = await whole.ask(
        filledIn(
          visitor("GET", "threads/THREAD/messages".replace("THREAD", threadId), {
            headers: {
              accept: "text/html",
              range: "bytes=0-1",
              "if-none-match": "*",
              "if-modified-since": new Date().toUTCString(),
            },
          }),
          { token, threadId },
        ),
      );
      expect([got.status, got.json()]).toEqual([200, { items: [] }]);
    });

    test("a body where none is wanted is ignored", async () => {
      const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
      const got = await whole.ask({ method: "POST", path: "/v1/widget/visitors", headers, body: "not JSON" });
      expect(got.status).toBe(201);
    });

    test("text is text: ids are compared letter by letter, and nothing is interpreted", async () => {
      const hostile = "\u202e\u200d${jndi:ldap://x} \u001b[31m<script>'; DROP TABLE users;-- %s%n";
      const users = ["\u00e9", "e\u0301", "anon", "__proto__", "Ada", "ada", "ada "];
      const ids = await Promise.all(
        users.map(async (externalUserId) => {
          const got = await whole.transport("/v1/access", { channel: "cli", externalUserId });
          return (got.json() as { userId: string }).userId;
        }),
      );
      expect(new Set(ids).size).toBe(users.length);
      const asUser = await whole.transport("/v1/access", { channel: "cli", externalUserId: ids[0] });
      expect(asUser.json()).not.toMatchObject({ userId: ids[0] });

      const upperSlug = await whole.transport("/v1/access", { channel: "CLI", externalUserId: "u" });
      expect(upperSlug.status).toBe(404);
      const got = await whole.transport("/v1/messages", {
        threadId: hostile.replace(/\p{Cc}/gu, ""),
        userId: "u",
        text: hostile,
      });
      expect(spoken(got.lines())).toBe(`You said: ${hostile}`);
    });

    test("P4: what a model says of line ends is one line each, for every splitter", async () => {
      const ends = "a\u2028b\u2029c\u0085d\r\ne\u000bf\u000cg";
      const got = await whole.transport("/v1/messages", { threadId: "ends", userId: "u", text: ends });
      const lines = LINE_ENDS.reduce(
        (parts, end) => parts.flatMap((part) => part.split(end)),
        [got.text],
      ).filter((line) => line.trim() !== "");
      expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(got.lines());
      expect(spoken(got.lines())).toBe(`You said: ${ends}`);
    });

    test("a hundred first uses of one user and thread at once are one user and one thread", async () => {
      const message = { threadId: "first", userId: "new", text: "x" };
      const got = await Promise.all(
        Array.from({ length: 100 }, () => whole.transport("/v1/messages", message)),
      );
      const statuses = got.map(({ status }) => status);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      const user = await whole.store.findUser("cli", "new");
      expect((await whole.store.users("cli")).filter(({ externalId }) => externalId === "new")).toHaveLength(
        1,
      );
      const threads = await whole.store.threads("cli", user?.userId ?? "");
      expect(threads.map(({ threadId }) => threadId)).toEqual(["first"]);
      const history = await whole.store.history(threads[0]?.uid ?? "", { limit: 1_000, before: null });
      const taken = statuses.filter((status) => status === 200).length;
      expect(history.filter(({ role }) => role === "user")).toHaveLength(taken);
    });

    test("two lines of what may come once are 400, closed, and reach no handler", async () => {
      const before = whole.logged().length;
      for (const name of ["x-visitor-token", "content-type", "origin"]) {
        const { port } = new URL(whole.url);
        const head = `POST /v1/widget/threads HTTP/1.1\r\nHost: x\r\nOrigin: ${ORIGIN}\r\nX-Visitor-Token: ${token}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n`;
        const pieces = [`${head}${name}: x\r\n\r\n{}`];
        const got = await sendRaw({ port: Number(port), pieces, untilClosed: true });
        expect(got).toMatchObject({ status: 400, closed: true });
      }
      expect(whole.logged()).toHaveLength(before);
    });
  });
}
