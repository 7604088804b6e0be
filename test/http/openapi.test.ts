import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { TRANSPORT_KEY, startService } from "./service.ts";

test("the API's description is valid OpenAPI 3.1 and names every endpoint", async () => {
  const { ask } = await startService();
  const document = (await (await ask({ path: "/swagger/openapi.json" })).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const validated = await new Validator().validate(document);
  expect(validated).toEqual({ valid: true });
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(named).toEqual([
    "post /v1/messages",
    "post /v1/messages/cancel",
    "post /v1/access",
    "post /v1/channels/{slug}/identify",
    "post /v1/widget/visitors",
    "post /v1/widget/threads",
    "get /v1/widget/threads/{id}/messages",
    "get /v1/widget/threads/{id}/stream",
    "post /v1/widget/threads/{id}/cancel",
    "post /v1/widget/messages",
    "post /v1/widget/tools",
    "post /v1/widget/tool-results",
    "options /v1/widget/{path}",
    "get /health",
  ]);
});

test("the description's bodies have the fields that must be there, and the line types of the stream", async () => {
  const { ask } = await startService();
  const text = await (await ask({ path: "/swagger/openapi.json" })).text();
  const { paths } = JSON.parse(text) as { paths: Record<string, never> };
  expect(paths).toHaveProperty(
    ["/v1/widget/tool-results", "post", "requestBody", "content", "application/json", "schema", "required"],
    ["threadId", "callId", "tool", "result"],
  );
  expect(text).toContain('"const":"tool_call"');
  expect(text).not.toContain(TRANSPORT_KEY);
});

test("the reference is served by us alone: its page runs no inline script, and every file it names is there", async () => {
  const { ask } = await startService();
  const page = await ask({ path: "/swagger" });
  const html = await page.text();
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'self';/);
  expect(page.headers["content-security-policy"]).not.toMatch(/script-src/);
  expect(html).not.toMatch(/<script(?![^>]*src=)|\son\w+=/);
  const files = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(files).toHaveLength(4);
  for (const path of files) {
    const got = await ask({ path });
    expect([path, got.status, got.headers["x-content-type-options"]]).toEqual([path, 200, "nosniff"]);
    expect((await got.text()).length).toBeGreaterThan(50);
  }
});

test("health needs no credential and says which store and model serve", async () => {
  const { ask } = await startService();
  const got = await ask({ path: "/health" });
  expect([got.status, await got.json()]).toEqual([
    200,
    { status: "ok", store: "embedded", model: "demo", warnings: [] },
  ]);
});

test("a route beside the API is found, and is not in its description", async () => {
  const metrics = {
    method: "GET",
    path: "/metrics",
    api: "open",
    documentation: "hidden",
    handle: async () => ({ status: 200, headers: {}, body: "up 1" }),
  } as const;
  const { ask } = await startService({}, { extraRoutes: [metrics] });
  expect(await (await ask({ path: "/metrics" })).text()).toBe("up 1");
  expect(await (await ask({ path: "/swagger/openapi.json" })).text()).not.toContain("/metrics");
});
