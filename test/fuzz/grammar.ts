import fc from "fast-check";
import { anyCharacter } from "../support/any-character.ts";

/** Whose requests are made: so that they get as far as the routes and the runs, not only to the door. */
export interface Caller {
  transportKey: string;
  operatorKey: string;
  secretKey: string;
  publishableKey: string;
  origin: string;
  visitorToken: string;
  threadId: string;
  /** Every path of the API's description: `/v1/widget/threads/{id}/events`. */
  paths: string[];
}

/** A request as bytes, in pieces with pauses between; `isHalf`: its end never comes. */
export interface FuzzedRequest {
  pieces: Buffer[];
  gapMs: number;
  isHalf: boolean;
}

const anything = fc.oneof(
  fc.jsonValue(),
  fc.string({ unit: anyCharacter, maxLength: 300 }),
  fc.constantFrom("t1", "ada", "Hello", "cli", "demo", ""),
);
const field = fc.constantFrom(
  "threadId",
  "userId",
  "externalUserId",
  "text",
  "channel",
  "displayName",
  "visitorToken",
  "webmcpTools",
  "callId",
  "tool",
  "result",
  "isError",
  "page",
  "customerContext",
  "clientMessageId",
  "epoch",
  "reason",
  "note",
  "context",
  "locale",
  "rotate",
  "overlapHours",
  "handoff",
  "attributes",
  "attachments",
  "agent",
  "address",
  "__proto__",
);
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.webSegment() },
  { weight: 1, arbitrary: fc.constantFrom("..", "%00", "%ZZ", "\u00e9", "a b") },
);

/** What the API takes, and now and then does not: one field of it is anything. */
function someBody({ threadId, visitorToken }: Caller) {
  const right = { userId: "ada", externalUserId: "ada", text: "Hello", visitorToken };
  const tools = { webmcpTools: [{ name: "cart", inputSchema: { type: "object" } }] };
  const nearlyRight = fc
    .tuple(fc.constantFrom(threadId, "t1", "t2"), field, anything)
    .map(([thread, name, value]) => JSON.stringify({ ...right, ...tools, threadId: thread, [name]: value }));
  return fc.oneof(
    { weight: 4, arbitrary: nearlyRight },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 300 }) },
    { weight: 1, arbitrary: fc.constantFrom("", "[".repeat(3_000), `"${"x".repeat(5_000)}"`) },
  );
}

/** A path of the description, its parameters now right and now anything. */
function describedPath({ paths, threadId }: Caller): fc.Arbitrary<string> {
  const known: Record<string, string> = { id: threadId, threadId: "t1", userId: "ada", slug: "demo" };
  const oneOf = (value = "x"): fc.Arbitrary<string> =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: segment });
  const query = fc.tuple(
    fc.constantFrom(
      "limit",
      "cursor",
      "after",
      "before",
      "since",
      "until",
      "from",
      "to",
      "q",
      "run",
      "state",
    ),
    fc.oneof(segment, fc.constantFrom("", "1", "100", "2026-11-22", "-1", "999999999999999", "idle")),
  );
  return fc.constantFrom(...paths).chain((path) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    // A caller whose keys were made anew gets no further.
    const right = path.endsWith("rotate-keys") ? { ...known, slug: "cli" } : known;
    return fc
      .tuple(fc.tuple(...names.map((name) => oneOf(right[name]))), fc.array(query, { maxLength: 3 }))
      .map(([values, asked]) => {
        const filled = names.reduce((text, name, at) => text.replace(`{${name}}`, values[at] ?? ""), path);
        const own = path.startsWith("/v1/threads") ? [["userId", "ada"], ...asked] : asked;
        return own.length === 0 ? filled : `${filled}?${own.map((pair) => pair.join("=")).join("&")}`;
      });
  });
}

function somePath(caller: Caller) {
  const { threadId } = caller;
  const id = fc.oneof({ weight: 3, arbitrary: fc.constant(threadId) }, { weight: 1, arbitrary: segment });
  return fc.oneof(
    { weight: 9, arbitrary: describedPath(caller) },
    {
      weight: 9,
      arbitrary: fc.constantFrom(
        "/v1/messages",
        "/v1/messages",
        "/v1/messages/cancel",
        "/v1/access",
        "/v1/channels/demo/identify",
        "/v1/channels/demo/revoke",
        "/v1/widget/visitors",
        "/v1/widget/threads",
        "/v1/widget/messages",
        "/v1/widget/messages",
        "/v1/widget/tools",
        "/v1/widget/tool-results",
        "/v1/operator/channels",
        "/v1/operator/audit",
        "/v1/operator/operators",
        "/health",
        "/metrics",
        "/swagger",
        "/swagger/openapi.json",
        "/console",
        "/widget/v1/channel?key=x",
      ),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(id, fc.constantFrom("messages", "stream", "cancel"))
        .map(([name, what]) => `/v1/widget/threads/${name}/${what}?limit=${name.length}`),
    },
    {
      weight: 1,
      arbitrary: segment.map((name) => `/v1/threads/${name}/messages?userId=${name}&before=${name}`),
    },
    { weight: 1, arbitrary: segment.map((name) => `/v1/channels/${name}/identify`) },
    { weight: 1, arbitrary: segment.map((name) => `/v1/operator/channels/demo/users/${name}?limit=${name}`) },
    { weight: 1, arbitrary: segment.map((name) => `/widget/v1/${name}`) },
  );
}

function someHeaders(caller: Caller) {
  const { transportKey, operatorKey, secretKey } = caller;
  const own = fc.constantFrom(
    "accept-encoding: gzip",
    "sec-fetch-site: same-origin",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "idempotency-key: one",
    "x-publishable-key: " + caller.publishableKey,
  );
  const odd = fc
    .tuple(fc.constantFrom("origin", "x-forwarded-for", "if-none-match", "x", "cookie"), fc.webSegment())
    .map(([name, value]) => `${name}: ${value}`);
  const key = fc.constantFrom(transportKey, transportKey, operatorKey, secretKey, "wrong");
  const token = fc.constantFrom(caller.visitorToken, caller.visitorToken, caller.visitorToken, "vt_demo_x");
  return fc
    .tuple(
      key,
      token,
      fc.constantFrom(caller.origin, caller.origin, "https://evil.example"),
      fc.array(fc.oneof(own, odd), { maxLength: 4 }),
    )
    .map(([bearer, visitor, origin, more]) => [
      `authorization: Bearer ${bearer}`,
      `x-visitor-token: ${visitor}`,
      `origin: ${origin}`,
      ...more,
    ]);
}

/** Mostly a request in one piece; now and then a slow one, half of one, or one with some bytes replaced. */
export function someRequest(caller: Caller): fc.Arbitrary<FuzzedRequest> {
  return fc
    .record({
      method: fc.constantFrom(
        "GET",
        "GET",
        "GET",
        "POST",
        "POST",
        "POST",
        "POST",
        "PATCH",
        "DELETE",
        "OPTIONS",
        "HEAD",
        "PUT",
      ),
      path: somePath(caller),
      headers: someHeaders(caller),
      body: someBody(caller),
      length: fc.constantFrom("right", "right", "right", "right", "right", "chunked", "99999999999"),
      flips: fc.oneof(
        { weight: 6, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }) },
      ),
      cuts: fc.oneof(
        { weight: 9, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(fc.nat(600), { maxLength: 5 }) },
      ),
      isHalf: fc.constantFrom(false, false, false, false, false, false, false, false, false, true),
    })
    .map(({ method, path, headers, body, length, flips, cuts, isHalf }) => {
      const bytes = Buffer.from(`${headOf({ method, path, headers, body, length })}${bodyOf(body, length)}`);
      for (const [place, value] of flips) if (place < bytes.length) bytes[place] = value;
      const whole = isHalf ? bytes.subarray(0, Math.floor(bytes.length / 2)) : bytes;
      return { pieces: cutAt(whole, cuts), gapMs: 5, isHalf };
    });
}

function headOf(said: {
  method: string;
  path: string;
  headers: string[];
  body: string;
  length: string;
}): string {
  const { method, path, headers, body, length } = said;
  const bytes = String(Buffer.byteLength(body));
  const framing =
    length === "chunked"
      ? "transfer-encoding: chunked"
      : `content-length: ${length === "right" ? bytes : length}`;
  const fixed = ["host: x", "connection: close", "content-type: application/json", framing];
  return [`${method} ${path} HTTP/1.1`, ...fixed, ...headers, "", ""].join("\r\n");
}

function bodyOf(body: string, length: string): string {
  if (length !== "chunked") return body;
  const end = "0\r\n\r\n";
  return body === "" ? end : `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n${end}`;
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [
    0,
    ...cuts.filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b),
    bytes.length,
  ];
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end));
}
