import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { Ajv2020 } from "ajv/dist/2020.js";
import { emptyAnswer } from "../../src/http/route.ts";
import type { Route } from "../../src/http/route.ts";
import { endpointsOf } from "./described.ts";
import type { Described } from "./described.ts";
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
    "get /v1/threads",
    "get /v1/threads/{threadId}/messages",
    "get /v1/threads/{threadId}/stream",
    "get /v1/threads/{threadId}/events",
    "post /v1/threads/{threadId}/handoff",
    "post /v1/threads/{threadId}/feedback",
    "post /v1/access",
    "post /v1/channels/{slug}/identify",
    "post /v1/channels/{slug}/revoke",
    "post /v1/widget/visitors",
    "post /v1/widget/threads",
    "get /v1/widget/threads",
    "get /v1/widget/threads/{id}/messages",
    "get /v1/widget/threads/{id}/stream",
    "get /v1/widget/threads/{id}/events",
    "post /v1/widget/threads/{id}/cancel",
    "post /v1/widget/threads/{id}/delete",
    "post /v1/widget/threads/{id}/handoff",
    "post /v1/widget/threads/{id}/handoff/cancel",
    "post /v1/widget/threads/{id}/feedback",
    "post /v1/widget/messages",
    "post /v1/widget/tools",
    "post /v1/widget/tool-results",
    "options /v1/widget/{path}",
    "post /v1/widget/ai-sdk/chat",
    "get /v1/widget/ai-sdk/chat/{id}/stream",
    "post /v1/widget/ai-sdk/chat/{id}/stop",
    "get /v1/widget/ai-sdk/chat/{id}/messages",
    "post /v1/widget/ag-ui",
    "get /v1/widget/copilotkit/info",
    "post /v1/widget/copilotkit/agent/{id}/run",
    "post /v1/widget/copilotkit/agent/{id}/connect",
    "post /v1/widget/copilotkit/agent/{id}/stop/{threadId}",
    "get /health",
    "get /v1/operator/me",
    "get /v1/operator/channels",
    "post /v1/operator/channels",
    "get /v1/operator/channels/{slug}",
    "patch /v1/operator/channels/{slug}",
    "post /v1/operator/channels/{slug}/rotate-keys",
    "post /v1/operator/channels/{slug}/stop",
    "get /v1/operator/channels/{slug}/webhooks",
    "post /v1/operator/channels/{slug}/webhooks/test",
    "post /v1/operator/channels/{slug}/webhooks/replay",
    "get /v1/operator/channels/{slug}/users",
    "get /v1/operator/channels/{slug}/users/{userId}",
    "patch /v1/operator/channels/{slug}/users/{userId}",
    "delete /v1/operator/channels/{slug}/users/{userId}",
    "post /v1/operator/channels/{slug}/users/{userId}/revoke",
    "post /v1/operator/channels/{slug}/users/{userId}/stop",
    "get /v1/operator/channels/{slug}/threads",
    "get /v1/operator/channels/{slug}/threads/{id}",
    "delete /v1/operator/channels/{slug}/threads/{id}",
    "get /v1/operator/channels/{slug}/threads/{id}/messages",
    "post /v1/operator/channels/{slug}/threads/{id}/messages",
    "get /v1/operator/channels/{slug}/threads/{id}/runs",
    "get /v1/operator/channels/{slug}/users/{userId}/export",
    "get /v1/operator/channels/{slug}/threads/{id}/export",
    "get /v1/operator/channels/{slug}/threads/{id}/watch",
    "post /v1/operator/channels/{slug}/threads/{id}/take",
    "post /v1/operator/channels/{slug}/threads/{id}/typing",
    "post /v1/operator/channels/{slug}/threads/{id}/return",
    "post /v1/operator/channels/{slug}/threads/{id}/close",
    "get /v1/operator/ips",
    "post /v1/operator/ips",
    "delete /v1/operator/ips/{address}",
    "get /v1/operator/operators",
    "post /v1/operator/operators",
    "delete /v1/operator/operators/{name}",
    "post /v1/operator/operators/{name}/rotate",
    "get /v1/operator/unreadable",
    "get /v1/operator/audit",
    "get /v1/operator/events",
    "get /v1/operator/stats",
    "get /v1/operator/caps",
  ]);
});

test("every operation has a name of its own, by which clients are generated", async () => {
  const { ask } = await startService();
  const described = (await (await ask({ path: "/swagger/openapi.json" })).json()) as Described;
  const named = endpointsOf(described).map(({ method, path, operation }) => [
    `${method} ${path}`,
    operation.operationId,
  ]);
  const names = named.map(([, name]) => name);
  for (const name of names) expect(name).toMatch(/^[a-z][A-Za-z0-9]+$/);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.fromEntries(named)).toMatchObject({
    "POST /v1/messages": "postMessages",
    "POST /v1/widget/messages": "postWidgetMessages",
    "GET /v1/threads/{threadId}/stream": "getThreadsByThreadIdStream",
    "POST /v1/widget/ai-sdk/chat": "postWidgetAiSdkChat",
    "GET /v1/operator/channels": "getOperatorChannels",
    "GET /v1/operator/channels/{slug}": "getOperatorChannelsBySlug",
  });
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
    { status: "ok", store: "embedded", model: "demo", ready: true },
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

test("the examples of requests and answers in the description match the schemas beside them", async () => {
  const { ask } = await startService();
  const described = (await (await ask({ path: "/swagger/openapi.json" })).json()) as Described;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const mismatches: unknown[] = [];
  const check = (where: string, schema: object, example: unknown) => {
    if (!ajv.validate(schema, example)) mismatches.push([where, ajv.errorsText()]);
  };
  for (const { path, method, operation } of endpointsOf(described)) {
    const body = operation.requestBody?.content["application/json"];
    if (body) check(`${method} ${path}`, body.schema, body.example);
    for (const { name, schema, example } of operation.parameters ?? []) {
      check(`${method} ${path} ${name}`, schema, example);
    }
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      for (const { schema, example } of Object.values(content)) {
        check(`${method} ${path} ${status}`, schema, example);
      }
    }
  }
  expect(mismatches).toEqual([]);
});

test("a route cannot be without its documentation, and what is hidden is no endpoint of the API", async () => {
  const bare = { method: "GET", path: "/bare", api: "open", handle: async () => emptyAnswer(204) } as const;
  // @ts-expect-error -- the type checker is what this test asks
  const route: Route = bare;
  expect(route).not.toHaveProperty("documentation");

  const { routes } = await startService();
  const hidden = routes.filter(({ documentation }) => documentation === "hidden").map(({ path }) => path);
  expect(hidden.every((path) => /^\/(swagger|console)(\/|$)/.test(path))).toBe(true);
  for (const { documentation, path } of routes) {
    if (documentation === "hidden") continue;
    const params = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]);
    expect([path, Object.keys(documentation.params)]).toEqual([path, params]);
  }
});
