// For src/http/front-page.ts
import { expect, test } from "vitest";
import { frontPageRoute } from "../../src/http/front-page.ts";
import type { FrontPageLinks } from "../../src/http/front-page.ts";

async function page(links: Omit<FrontPageLinks, "script">, host = "127.0.0.1:8080") {
  const script = { name: "chat-agent.0123456789abcdef.js", integrity: "sha384-abc" };
  const route = frontPageRoute(() => ({ ...links, script }));
  const headers = new Map([["host", host]]);
  const request = { method: "GET", path: "/", query: "", headers, address: "", contentLength: null };
  const body = () => Promise.resolve(Buffer.alloc(0));
  const answer = await route.handle({
    request: { ...request, body },
    params: {},
    traceparent: null,
    note: () => {},
  });
  const html = String(answer.body);
  return { ...answer, html, links: [...html.matchAll(/href="([^"]+)"/g)].map((match) => match[1]) };
}

test("the first address says what this is, and links what the start named", async () => {
  const { status, headers, html, links } = await page({
    demoUrl: "http://127.0.0.1:8081",
    hasConsole: true,
  });
  expect(status).toBe(200);
  expect(headers["content-type"]).toContain("text/html");
  expect(headers["content-security-policy"]).toContain("default-src 'none'");
  expect(html).toContain("A conversational agent as a service");
  expect(links).toEqual(["http://127.0.0.1:8081", "/console", "/swagger", "/health"]);
});

test("without a demo and a console it names neither", async () => {
  expect((await page({ demoUrl: null, hasConsole: false })).links).toEqual(["/swagger", "/health"]);
});

test.each([
  ["127.0.0.1:8080", "http://127.0.0.1:8080/widget"],
  ["chat.example.com", "https://chat.example.com/widget"],
  ['"><script>', "https://ADDRESS-OF-THIS-SERVICE/widget"],
])("the tag with its integrity, to be pasted, for %s", async (host, address) => {
  const { html } = await page({ demoUrl: null, hasConsole: false }, host);
  expect(html).toContain(
    `${address}/v1/chat-agent.0123456789abcdef.js" integrity="sha384-abc" crossorigin="anonymous" defer`,
  );
  expect(html).not.toContain("<script");
});
