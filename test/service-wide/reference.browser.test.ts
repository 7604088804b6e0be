// For src/http/reference/
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { endpointsOf } from "../http/described.ts";
import type { Described, Endpoint, Operation } from "../http/described.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { SOON, launchBrowser } from "../widget/browser.ts";
import { ask, linesOf } from "./clients/ask.ts";
import type { Asking, Got } from "./clients/ask.ts";

/** A start without configuration, as a newcomer has it, but that a visitor may try all examples in a minute: its address, its keys, and what a page of the demo sends. */
async function startDemo() {
  const dataDir = temporaryFolder();
  const { url, output } = await startServiceProcess({
    DATA_DIR: dataDir,
    WIDGET_MESSAGES_PER_MINUTE: "100",
  });
  await expect.poll(() => output.stderr, SOON).toContain("Demo page");
  const keys = JSON.parse(readFileSync(join(dataDir, "keys.json"), "utf8")) as {
    harnessApiKey: string;
    localOperator: string;
    demo: { publishableKey: string; secretKey: string };
  };
  const origin = new URL(/Demo page\s+(\S+)/.exec(output.stderr)?.[1] ?? "").origin;
  const described = (await ask(url, { path: "/swagger/openapi.json" })).json() as Described;
  return { url, keys, origin, described };
}
type Demo = Awaited<ReturnType<typeof startDemo>>;

/** The documented example of an operation as a request; `given` stands in for values that only a running service knows. */
function exampleOf(
  { path, method, operation }: Endpoint,
  credentials: Record<string, Record<string, string>>,
  given: Record<string, string> = {},
): Asking {
  const fields = (operation.parameters ?? []).map((field) => ({
    ...field,
    value: given[field.name] ?? String(field.example),
  }));
  const at = (place: string) => fields.filter((field) => field.in === place);
  const filled = at("path").reduce((text, { name, value }) => text.replace(`{${name}}`, value), path);
  const query = new URLSearchParams(
    at("query").map(({ name, value }): [string, string] => [name, value]),
  ).toString();
  const content = operation.requestBody?.content ?? {};
  const example = content["application/json"]?.example;
  // A file's endpoint takes any bytes.
  const file = "application/octet-stream" in content ? "Delivery takes two days" : null;
  const replaced = Object.entries(example ?? {}).map(([name, value]) => [name, given[name] ?? value]);
  const [scheme] = operation.security.flatMap((security) => Object.keys(security));
  return {
    method,
    path: query === "" ? filled : `${filled}?${query}`,
    headers: {
      ...Object.fromEntries(at("header").map(({ name, value }) => [name, value])),
      ...(scheme === undefined ? {} : credentials[scheme]),
      ...(example ? { "content-type": "application/json" } : {}),
    },
    ...(example ? { body: JSON.stringify(Object.fromEntries(replaced)) } : {}),
    ...(file === null ? {} : { body: file }),
  };
}

function isOperators(path: string): boolean {
  return path.startsWith("/v1/operator/");
}

/** What an answer has of its documented schema: a line of a stream, a frame of server-sent events, or all of it. */
function valuesIn(got: Got, type: string): unknown[] {
  const { text } = got;
  if (type === "application/x-ndjson") return linesOf(text);
  if (type === "application/json") return [got.json()];
  if (type !== "text/event-stream") return [text];
  const frames = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => data);
  return frames.filter((data) => data !== "[DONE]").map((data): unknown => JSON.parse(data));
}

/** A visitor of the demo, with a thread whose page tool has just been called. */
async function visitorOf(demo: Demo) {
  const { url, origin, keys } = demo;
  const page = { origin, "x-publishable-key": keys.demo.publishableKey };
  const minted = await ask(url, { method: "POST", path: "/v1/widget/visitors", headers: page });
  const { visitorToken } = minted.json() as { visitorToken: string };
  const headers = { origin, "x-visitor-token": visitorToken, "content-type": "application/json" };
  const post = (path: string, body?: object) =>
    ask(url, {
      method: "POST",
      path: `/v1/widget/${path}`,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const { threadId } = (await post("threads")).json() as { threadId: string };
  return { visitorToken, threadId, post };
}

describe("the API's description", () => {
  test("its examples, sent as they are, get a documented answer; with ids that exist, a good one of the documented shape", async () => {
    const demo = await startDemo();
    const { url, keys, origin, described } = demo;
    const { visitorToken, threadId, post } = await visitorOf(demo);
    const credentials = {
      transportKey: { authorization: `Bearer ${keys.harnessApiKey}` },
      secretKey: { authorization: `Bearer ${keys.demo.secretKey}` },
      operatorKey: { authorization: `Bearer ${keys.localOperator}` },
      publishableKey: { "x-publishable-key": keys.demo.publishableKey },
      visitorToken: { "x-visitor-token": visitorToken },
    };
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const wrong: unknown[] = [];
    const documented = (operation: Operation, asking: Asking, got: Got) => {
      const told = operation.responses[got.status];
      const type = (got.headers["content-type"] ?? "").replace(/(json); charset=utf-8$/, "$1");
      const schema = told?.content?.[type]?.schema;
      if (!told || Boolean(schema) !== (got.text !== "")) wrong.push([asking.path, got.status, got.text]);
      if (!schema) return;
      for (const value of valuesIn(got, type)) {
        if (!ajv.validate(schema, value)) wrong.push([asking.path, value, ajv.errorsText()]);
      }
    };

    const feedOr = ({ path }: { path: string }) => ({ isFeed: /\/(events|watch)$/.test(path) });
    for (const operation of endpointsOf(described)) {
      const asking = exampleOf(operation, credentials);
      documented(operation.operation, asking, await ask(url, asking, feedOr(operation)));
    }
    expect(wrong).toEqual([]);

    const statuses: [string, number][] = [];
    const said = await post("messages", { threadId, text: "Hello" });
    const run = String(said.headers["x-run-id"]);
    const given: Record<string, string> = { origin, id: threadId, slug: "demo", visitorToken, run };
    // The run of the backend's own message, once it is sent.
    let ofBackend = "";
    // What deletes the thread comes when no other endpoint needs it, then what ends all tokens, then what changes keys.
    const ends = ["/v1/widget/threads/{id}/delete", "/v1/channels/{slug}/revoke"];
    const rank = ({ path }: Endpoint) => (isOperators(path) ? ends.length : ends.indexOf(path));
    const inOrder = endpointsOf(described).sort((one, other) => rank(one) - rank(other));
    for (const operation of inOrder) {
      const isWidget = operation.path.startsWith("/v1/widget/");
      if (operation.path === "/v1/widget/tool-results") {
        // Asks for what the demo model knows a tool for, so that there is a call to answer.
        const inputSchema = { type: "object", properties: { sku: { type: "string" } } };
        const webmcpTools = [
          { name: "add_to_cart", description: "Puts a product into the cart", inputSchema },
        ];
        await post("tools", { threadId, webmcpTools });
        const stream = await post("messages", { threadId, text: "Add a red mug to the cart" });
        const call = stream.lines().at(-1);
        if (call?.type !== "tool_call") throw new Error(`Cannot go on: ${stream.text}`);
        given["callId"] = call.callId;
      }
      const names = isWidget ? { threadId } : { run: ofBackend };
      const asking = exampleOf(operation, credentials, { ...given, ...names });
      const got = await ask(url, asking, feedOr(operation));
      if (operation.path === "/v1/messages") ofBackend = String(got.headers["x-run-id"]);
      documented(operation.operation, asking, got);
      // What an operator's example finds there, the examples before it have made or taken away.
      if (!isOperators(operation.path)) statuses.push([`${operation.method} ${operation.path}`, got.status]);
    }
    expect(wrong).toEqual([]);
    // 409: the channel `cli` has no hand-off, and no person has helped the visitor.
    expect(statuses).toEqual([
      ["POST /v1/messages", 200],
      ["POST /v1/threads/{threadId}/say", 201],
      ["POST /v1/threads/{threadId}/regenerate", 200],
      ["POST /v1/messages/cancel", 204],
      ["GET /v1/threads", 200],
      ["GET /v1/threads/{threadId}/messages", 200],
      ["GET /v1/threads/{threadId}/stream", 200],
      ["GET /v1/threads/{threadId}/events", 200],
      ["POST /v1/threads/{threadId}/handoff", 409],
      ["POST /v1/threads/{threadId}/approvals", 409],
      ["POST /v1/threads/{threadId}/feedback", 204],
      ["POST /v1/threads/{threadId}/files", 201],
      ["GET /v1/threads/{threadId}/files/{fileId}", 404],
      ["POST /v1/access", 200],
      ["POST /v1/channels/{slug}/identify", 200],
      ["POST /v1/widget/visitors", 201],
      ["POST /v1/widget/threads", 201],
      ["GET /v1/widget/threads", 200],
      ["GET /v1/widget/threads/{id}/messages", 200],
      ["GET /v1/widget/threads/{id}/stream", 200],
      ["GET /v1/widget/threads/{id}/events", 200],
      ["POST /v1/widget/threads/{id}/cancel", 204],
      ["POST /v1/widget/threads/{id}/handoff", 204],
      ["POST /v1/widget/threads/{id}/handoff/cancel", 204],
      ["POST /v1/widget/threads/{id}/feedback", 204],
      ["GET /v1/widget/threads/{id}/handoffs", 200],
      ["POST /v1/widget/threads/{id}/address", 204],
      ["POST /v1/widget/threads/{id}/rating", 409],
      ["POST /v1/widget/threads/{id}/shown", 204],
      ["POST /v1/widget/messages", 200],
      ["POST /v1/widget/threads/{id}/regenerate", 200],
      ["POST /v1/widget/threads/{id}/files", 201],
      ["GET /v1/widget/threads/{id}/files/{fileId}", 404],
      ["POST /v1/widget/tools", 204],
      ["POST /v1/widget/tool-results", 200],
      ["POST /v1/widget/threads/{id}/approvals", 409],
      ["OPTIONS /v1/widget/{path}", 204],
      ["POST /v1/widget/ai-sdk/chat", 200],
      ["GET /v1/widget/ai-sdk/chat/{id}/stream", 200],
      ["POST /v1/widget/ai-sdk/chat/{id}/stop", 204],
      ["GET /v1/widget/ai-sdk/chat/{id}/messages", 200],
      ["POST /v1/widget/ag-ui", 200],
      ["GET /v1/widget/copilotkit/info", 200],
      ["POST /v1/widget/copilotkit/agent/{id}/run", 200],
      ["POST /v1/widget/copilotkit/agent/{id}/connect", 200],
      ["POST /v1/widget/copilotkit/agent/{id}/stop/{threadId}", 204],
      ["GET /health", 200],
      ["POST /v1/widget/threads/{id}/delete", 204],
      ["POST /v1/channels/{slug}/revoke", 204],
    ]);
  });
});

describe("the reference in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser({ webMcp: false });
  });
  afterAll(() => browser.close());

  test("loads nothing from elsewhere, complains of nothing, and tries a message out, its lines readable", async () => {
    const { url, keys, described } = await startDemo();
    const page = await browser.newPage({ viewport: { width: 1_280, height: 1_800 } });
    const troubles: string[] = [];
    const elsewhere: string[] = [];
    page.on("pageerror", (error) => troubles.push(String(error)));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) troubles.push(message.text());
    });
    page.on("request", (request) => {
      const asked = request.url();
      if (!asked.startsWith(`${url}/`) && !asked.startsWith("data:")) elsewhere.push(asked);
    });

    await page.goto(`${url}/swagger`);
    await page.locator(".opblock").first().waitFor();
    await expect.poll(() => page.locator(".opblock").count(), SOON).toBe(endpointsOf(described).length);

    await page.locator("button.authorize").first().click();
    const scheme = page.locator(".auth-container", { hasText: "transportKey" });
    await scheme.locator("input").fill(keys.harnessApiKey);
    await scheme.getByRole("button", { name: "Apply credentials" }).click();
    await page.locator(".modal-ux .close-modal").click();

    const operation = page.locator(".opblock-post").first();
    await operation.locator(".opblock-summary-control").click();
    await operation.getByRole("button", { name: "Try it out" }).click();
    await operation.getByRole("button", { name: "Execute" }).click();
    const answer = operation.locator(".live-responses-table");
    await answer.waitFor();
    expect(await answer.locator(".response-col_status").last().innerText()).toContain("200");
    const shown = await answer.innerText();
    expect(shown).toContain('"type":"done"');
    expect(shown).not.toContain("can't parse JSON");
    const shot = process.env["SCREENSHOT"];
    if (shot !== undefined) await page.screenshot({ path: shot });

    expect(troubles).toEqual([]);
    expect(elsewhere).toEqual([]);
    await page.close();
  });
});
