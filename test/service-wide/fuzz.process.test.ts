import fc from "fast-check";
import { expect, test } from "vitest";
import { sendRaw } from "../listeners/raw-client.ts";
import { anyCharacter } from "../support/any-character.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { TEST_KEY } from "../support/service.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { describeEachListener } from "../support/each-listener.ts";

const REQUESTS = 600;
const AT_ONCE = 20;
/** What has no answer when so many that came later have theirs gets none. */
const LATER_ONES = 20;

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
  "__proto__",
);
/** What the server API takes, and now and then does not: one field of it is anything. */
const nearlyRight = fc.tuple(field, anything).map(([name, value]) => {
  const right = { threadId: "t1", userId: "ada", externalUserId: "ada", text: "Hello", channel: "cli" };
  return JSON.stringify({ ...right, [name]: value });
});
const body = fc.oneof(
  { weight: 3, arbitrary: nearlyRight },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 300 }) },
);
const segment = fc.oneof(
  { weight: 4, arbitrary: fc.webSegment() },
  { weight: 1, arbitrary: fc.constantFrom("..", "%00", "%ZZ", "\u00e9", "a b") },
);
const path = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.constantFrom(
      "/v1/messages",
      "/v1/messages",
      "/v1/messages",
      "/v1/messages/cancel",
      "/v1/access",
      "/v1/access",
      "/v1/channels/demo/identify",
      "/v1/widget/visitors",
      "/v1/widget/threads",
      "/v1/widget/messages",
      "/v1/widget/tools",
      "/v1/widget/tool-results",
      "/metrics",
      "/swagger",
      "/machines/api/channels",
    ),
  },
  { weight: 1, arbitrary: segment.map((id) => `/v1/widget/threads/${id}/messages?limit=${id}`) },
  { weight: 1, arbitrary: segment.map((id) => `/v1/threads/${id}/messages?userId=${id}&before=${id}`) },
  { weight: 1, arbitrary: segment.map((id) => `/v1/channels/${id}/identify`) },
  { weight: 1, arbitrary: segment.map((id) => `/widget/v1/${id}`) },
);
const header = fc.oneof(
  fc.constantFrom(
    "origin: http://localhost:8081",
    "accept-encoding: gzip",
    "sec-fetch-site: same-origin",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  ),
  fc
    .tuple(fc.constantFrom("x-visitor-token", "x-publishable-key", "if-none-match", "x"), fc.webSegment())
    .map(([name, value]) => `${name}: ${value}`),
);

const request = fc
  .record({
    method: fc.constantFrom("GET", "POST", "POST", "POST", "OPTIONS", "HEAD", "PUT"),
    path,
    key: fc.constantFrom(TEST_KEY, TEST_KEY, TEST_KEY, "wrong"),
    headers: fc.array(header, { maxLength: 4 }),
    body,
    /** Bytes that are replaced: mostly none. */
    flips: fc.oneof(
      { weight: 6, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }) },
    ),
  })
  .map(({ method, path: at, key, headers, body: said, flips }) => {
    const fixed = ["host: x", "connection: close", "content-type: application/json"];
    const lines = [`${method} ${at} HTTP/1.1`, ...fixed, `authorization: Bearer ${key}`, ...headers];
    const head = [...lines, `content-length: ${Buffer.byteLength(said)}`, "", ""].join("\r\n");
    const bytes = Buffer.from(head + said);
    for (const [place, value] of flips) if (place < bytes.length) bytes[place] = value;
    return bytes;
  });

/** Resolves when so many good requests, one after another, have been answered. */
async function askInTurn(url: string, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) await (await fetch(`${url}/health`)).text();
}

describeEachListener("fuzzing", (listener) => {
  test("P30: whatever is sent, no answer is a 500, no error goes uncaught, and the process lives", async () => {
    const env = {
      DATA_DIR: temporaryFolder(),
      LISTENER: listener,
      INSPECTOR: "on",
      HARNESS_API_KEY: TEST_KEY,
    };
    const { url, output } = await startServiceProcess(env);
    const port = Number(new URL(url).port);
    const seed = Math.floor(Math.random() * 2 ** 31);
    const requests = fc.sample(request, { seed, numRuns: REQUESTS });
    const statuses = new Map<number | null, number>();
    while (requests.length > 0) {
      const laterOnesAnswered = askInTurn(url, LATER_ONES);
      const sent = requests.splice(0, AT_ONCE).map(async (bytes) => {
        const { status } = await sendRaw({ port, pieces: [bytes], giveUp: laterOnesAnswered });
        expect({ seed, status, sent: bytes.toString("latin1") }).not.toMatchObject({ status: 500 });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      await Promise.all([...sent, laterOnesAnswered]);
    }
    // They got as far as the routes and the runs, not only to the door.
    for (const status of [200, 401, 404, 422]) expect(statuses.get(status)).toBeGreaterThan(0);
    expect(output.stdout.filter((line) => line.includes('"level":50'))).toEqual([]);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });
});
