// For src/http/head-limit.ts
import { describe, expect, test } from "vitest";
import { ORIGIN, startService } from "../service.ts";

const LIMIT = 16_384;
/** A cookie with which the head of a request has this many bytes. */
function cookieFor(
  bytes: number,
  request: { method: string; path: string; headers: Record<string, string> },
) {
  const head = `${request.method} ${request.path} HTTP/1.1\r\n`;
  const lines = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return "c".repeat(bytes - [head, ...lines, "cookie: \r\n", "\r\n"].join("").length);
}

describe("D8, N6: the head of a request", () => {
  const request = {
    method: "GET",
    path: "/v1/widget/threads",
    headers: { host: "chat.example", origin: ORIGIN, "x-visitor-token": "vt_none" },
  };

  test("may have MAX_HEAD_BYTES; a page whose cookies make it longer can read the 431", async () => {
    const { ask } = await startService();
    const send = (bytes: number) =>
      ask({ ...request, headers: { ...request.headers, cookie: cookieFor(bytes, request) } });
    expect((await send(LIMIT)).status).toBe(401);
    const refused = await send(LIMIT + 1);
    expect(refused.status).toBe(431);
    expect(refused.headers).toMatchObject({
      "access-control-allow-origin": ORIGIN,
      "cache-control": "no-store",
    });
    expect(await refused.text()).toBe("");
  });

  test("is refused before anything is read or looked up, and a page of an origin that no channel has cannot read it", async () => {
    const { ask } = await startService();
    const headers = { host: "chat.example", cookie: "c".repeat(LIMIT) };
    const foreign = await ask({ ...request, headers: { ...headers, origin: "https://stranger.example" } });
    expect(foreign.status).toBe(431);
    expect(foreign.headers).not.toHaveProperty("access-control-allow-origin");
    for (const path of ["/v1/messages", "/health", "/nowhere"])
      expect((await ask({ method: "POST", path, headers })).status).toBe(431);
  });

  test("is told of once, with the remedy", async () => {
    const warnings: unknown[][] = [];
    const warn = (...words: unknown[]): void => void warnings.push(words);
    const { ask } = await startService({}, { log: { info: () => {}, warn, error: () => {} } });
    const headers = { host: "chat.example", cookie: "c".repeat(LIMIT) };
    for (let nth = 0; nth < 3; nth++) await ask({ method: "GET", path: "/health", headers });
    expect(warnings).toEqual([
      [
        { bytes: expect.any(Number), cookieBytes: LIMIT },
        "the head of a request is longer than MAX_HEAD_BYTES (16384): answered 431, and told once. Where a site's cookies are the reason, let the proxy remove them, or raise MAX_HEAD_BYTES",
      ],
    ]);
  });
});
