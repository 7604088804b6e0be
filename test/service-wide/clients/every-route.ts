import { ORIGIN, SECRET_KEY } from "../../http/service.ts";
import { TEST_KEY } from "../../support/servers/service.ts";
import type { Asking, Got } from "./ask.ts";
import { OPERATOR_KEY } from "./open-whole.ts";
import type { Whole } from "./open-whole.ts";

/** A good request of every route that asks the store. */
export function everyRoute(token: string, threadId: string): Asking[] {
  const server = (path: string, body: object, key = TEST_KEY): Asking => ({
    method: "POST",
    path,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const read = (path: string): Asking => ({
    method: "GET",
    path,
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  const widget = (method: string, path: string, body?: object): Asking => ({
    method,
    path: `/v1/widget/${path}`,
    headers: { origin: ORIGIN, "x-visitor-token": token, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const operator = (method: string, path: string, body?: object): Asking => ({
    method,
    path: `/v1/operator/${path}`,
    headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const page = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
  return [
    server("/v1/messages", { threadId: "t", userId: "u", text: "x" }),
    server("/v1/messages/cancel", { threadId: "t", userId: "u" }),
    read("/v1/threads?userId=u"),
    read("/v1/threads/t/messages?userId=u"),
    read("/v1/threads/t/stream?userId=u"),
    server("/v1/threads/t/feedback", { userId: "u", messageId: "2", rating: "up" }),
    server("/v1/access", { channel: "cli", externalUserId: "u" }),
    server("/v1/channels/shop/identify", { visitorToken: token, externalUserId: "a" }, SECRET_KEY),
    { method: "POST", path: "/v1/widget/visitors", headers: page },
    widget("POST", "threads"),
    widget("GET", "threads"),
    widget("GET", `threads/${threadId}/messages`),
    widget("GET", `threads/${threadId}/stream`),
    widget("POST", `threads/${threadId}/cancel`),
    widget("POST", `threads/${threadId}/feedback`, { messageId: "2", rating: "up" }),
    widget("POST", "messages", { threadId, text: "x" }),
    widget("POST", "tools", { threadId, webmcpTools: [] }),
    widget("POST", "tool-results", { threadId, callId: "c", tool: "t", result: 1 }),
    operator("GET", "channels"),
    operator("GET", "channels/shop"),
    operator("POST", "channels", { slug: "another", kind: "transport" }),
    operator("PATCH", "channels/closed", { accessMode: "open" }),
    operator("POST", "channels/closed/rotate-keys"),
    operator("GET", "channels/shop/users"),
    operator("GET", "channels/shop/users/u"),
    operator("PATCH", "channels/cli/users/u", { whitelisted: true }),
    operator("GET", `channels/shop/threads/${threadId}/messages`),
    operator("GET", `channels/shop/threads/${threadId}/runs`),
    operator("GET", "ips"),
    operator("POST", "ips", { address: "203.0.113.200" }),
    operator("DELETE", "ips/203.0.113.200"),
    operator("GET", "operators"),
    operator("POST", "operators", { name: "another", role: "agent" }),
    operator("POST", "operators/another/rotate"),
    operator("DELETE", "operators/nobody"),
    operator("POST", "channels/cli/stop"),
    operator("POST", "channels/cli/users/u/stop"),
    operator("GET", `channels/shop/threads/${threadId}/export`),
    operator("GET", "unreadable"),
    operator("GET", "audit"),
  ];
}

interface Told {
  path: string;
  status: number;
  headers: Got["headers"];
  text: string;
}

/** What each route answers, asked at once. */
export async function answersOf(whole: Whole, routes: Asking[]): Promise<Told[]> {
  return await Promise.all(
    routes.map(async (asking) => {
      const { status, headers, text } = await whole.ask(asking);
      return { path: asking.path, status, headers, text };
    }),
  );
}

/** Every route says so in the same way. */
export function unavailable(routes: Asking[]): Told[] {
  const empty = { "cache-control": "no-store", "content-length": "0", "retry-after": "1" };
  const readable = {
    vary: "Origin",
    "access-control-allow-origin": ORIGIN,
    "access-control-expose-headers": "retry-after, x-run-id",
  };
  return routes.map(({ path }) => ({
    path,
    status: 503,
    headers: path.startsWith("/v1/widget/") ? { ...empty, ...readable } : empty,
    text: "",
  }));
}

/** The statuses that say that something is out of order. */
export async function outages(whole: Whole, routes: Asking[]): Promise<number[]> {
  const answers = await answersOf(whole, routes);
  return answers.map(({ status }) => status).filter((status) => status >= 500);
}

export async function health(whole: Whole): Promise<unknown[]> {
  const got = await whole.ask({ path: "/health" });
  return [got.status, (got.json() as { status: string }).status];
}

/** Requests that ended in an error of ours. */
export function bugs(whole: Whole): string[] {
  return whole.logged.filter((line) => line.includes('"status":500'));
}
