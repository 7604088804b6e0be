// For src/http/reference/, src/http/routes.ts, src/protocol/
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { Ajv2020 } from "ajv/dist/2020.js";
import { emptyAnswer } from "../../src/http/route.ts";
import type { Route } from "../../src/http/route.ts";
import { endpointsOf } from "./described.ts";
import type { Described } from "./described.ts";
import { TRANSPORT_KEY, startService } from "./service.ts";

test("the API's description is valid OpenAPI 3.1 and names every endpoint", async () => {
  const { ask, routes } = await startService();
  const document = (await (await ask({ path: "/swagger/openapi.json" })).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const validated = await new Validator().validate(document);
  expect(validated).toEqual({ valid: true });
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const declared = endpointsIn(routes).map(({ method, path }) => {
    const template = path.replace(/:(\w+)/g, "{$1}").replace("*", "{path}");
    return `${method} ${template}`;
  });
  expect(declared.length).toBeGreaterThan(70);
  expect(named.sort()).toEqual(declared.sort());
});

test("every endpoint is named in the page of its API, and every one that a page names is there", async () => {
  const { routes } = await startService();
  const endpoints = endpointsIn(routes);
  const unnamed = endpoints.filter((route) => {
    const words = route.path.split("/").filter((word) => /^[\w-]+$/.test(word));
    return !new RegExp(`/${words.at(-1)}(?![\\w-])`).test(pageOf(route));
  });
  expect(unnamed.map(({ method, path }) => `${method} ${path}`)).toEqual([]);

  const told = PAGES.flatMap(([, page]) => [
    ...textOf(page).matchAll(/`(GET|POST|PATCH|DELETE|OPTIONS) (\/(?:v1|channels|ips|operators)\/[^`?\s]*)/g),
  ]).map(([, method = "", path = ""]) => `${method} ${path.startsWith("/v1/") ? "" : "/v1/operator"}${path}`);
  expect(told.length).toBeGreaterThan(60);
  const there = endpoints.map(({ method, path }) => `${method} ${path}`);
  expect(told.filter((one) => !there.includes(one))).toEqual([]);
});

function endpointsIn(routes: readonly Route[]): Route[] {
  return routes.filter(({ documentation }) => documentation !== "hidden");
}

/** Which README tells callers of an endpoint: the first whose pattern its path has. */
const PAGES: readonly [RegExp, string][] = [
  [/^\/v1\/operator\//, "operators"],
  [/\/ai-sdk\//, "http/ai-sdk"],
  [/\/(?:ag-ui|copilotkit)/, "http/ag-ui"],
  [/^\/v1\/widget\//, "http/widget-api"],
  [/^/, "http"],
];

function pageOf({ path }: Route): string {
  const [, page = ""] = PAGES.find(([pattern]) => pattern.test(path)) ?? [];
  return textOf(page);
}

function textOf(page: string): string {
  return readFileSync(new URL(`../../src/${page}/README.md`, import.meta.url), "utf8");
}

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
