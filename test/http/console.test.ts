// For src/http/console/, src/http/find-route.ts
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { requestFrom, startService } from "./service.ts";
import type { HttpAnswer } from "../../src/listener.ts";
import { consoleRoutes } from "../../src/http/console/console-route.ts";
import { createFindRoute } from "../../src/http/find-route.ts";

async function get(path: string, encoding?: string): Promise<HttpAnswer> {
  const found = createFindRoute(consoleRoutes())({ method: "GET", path });
  if (found.type !== "found") throw new Error(`Cannot find ${path}`);
  const request = requestFrom({
    path,
    headers: encoding === undefined ? {} : { "accept-encoding": encoding },
  });
  return found.route.handle({ request, params: found.params, traceparent: null, note: () => {} });
}

test("the page names its files by their contents, and may load nothing from elsewhere", async () => {
  const { status, headers, body } = await get("/console");
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("no-cache");
  expect(headers["content-security-policy"]).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self';/,
  );
  expect(headers["content-security-policy"]).not.toMatch(/unsafe|https?:|\*/);
  const html = String(body);
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)/);
  const names = [...html.matchAll(/(?:src|href)="(\/console\/page-[^"]+)"/g)].map((match) => match[1] ?? "");
  expect(names).toHaveLength(2);
  for (const name of names) {
    const plain = await get(name);
    expect(plain.headers["cache-control"]).toContain("immutable");
    const gzipped = await get(name, "gzip");
    expect(gzipped.headers["content-encoding"]).toBe("gzip");
    expect(gunzipSync(gzipped.body ?? "").equals(Buffer.from(plain.body ?? ""))).toBe(true);
    const brotli = await get(name, "gzip, br;q=0.5");
    expect(brotli.headers["content-encoding"]).toBe("br");
    expect(brotliDecompressSync(brotli.body ?? "").equals(Buffer.from(plain.body ?? ""))).toBe(true);
    expect((await get(name, "br;q=0, gzip;q=0")).headers["content-encoding"]).toBeUndefined();
  }
});

test("only its own files are there", async () => {
  for (const path of ["/console/", "/console/nothing.js", "/console/../package.json", "/console/index.html"])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  expect((await get("/console/thread.svg")).headers["content-type"]).toContain("image/svg+xml");
});

test("CONSOLE=off takes page and API away", async () => {
  const on = await startService();
  expect((await on.ask({ path: "/console" })).status).toBe(200);
  expect((await on.ask({ path: "/v1/operator/me" })).status).toBe(401);
  const off = await startService({ CONSOLE: "off" });
  expect(off.routes.filter(({ path }) => /^\/(console|v1\/operator)/.test(path))).toEqual([]);
});
