// For src/http/handler.ts
import { expect, test } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import type { Route } from "../../../src/http/route.ts";
import { RequestGone } from "../../../src/listener.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import { ORIGIN, startService } from "../service.ts";

/** A service with one more route, which answers with what it throws. */
async function throwing(error: unknown) {
  const route: Route = {
    method: "POST",
    path: "/throws",
    api: "server",
    documentation: "hidden",
    handle: () => Promise.reject(error),
  };
  const service = await startService({}, { extraRoutes: [route] });
  const { status, headers } = await service.ask({ method: "POST", path: "/throws" });
  return { status, headers, logged: service.logged.at(-1) ?? "", answered: service.answered.at(-1) };
}

test.each([
  ["a refusal", new Refusal("not-found"), 404, "answered"],
  ["a client that left", new RequestGone(), 499, "answered"],
  ["an outage", new StoreUnavailable("read a thread"), 503, "cannot answer a request"],
  ["a bug", new Error("a fault of our own"), 500, "cannot answer a request"],
])("%s is answered, counted and logged as what it is", async (_name, error, status, text) => {
  const { logged, answered, ...answer } = await throwing(error);
  expect(answer.status).toBe(status);
  expect(answered).toMatchObject({ route: "/throws", status });
  expect(logged.startsWith(`${text} `)).toBe(true);
  // The cause is told of a fault alone.
  expect(logged.includes(error.message)).toBe(status === 500 || status === 503);
});

test("a log line is short, whatever a client sends as method, and its time has two places", async () => {
  const service = await startService();
  await service.ask({ method: "X".repeat(500), path: `/${"y".repeat(500)}` });
  const line = service.logged.at(-1) ?? "";
  expect(line).toContain(`"method":"${"X".repeat(16)}"`);
  expect(line).toContain('"route":"none"');
  expect(line).toMatch(/"ms":\d+(\.\d{1,2})?[,}]/);
});

test("the log says from which page a request came that no channel allows", async () => {
  const service = await startService();
  const asked = { "x-publishable-key": "pk_shop" };
  await service.post("/v1/widget/visitors", "", { headers: { ...asked, origin: "http://localhost:3000" } });
  expect(service.logged.at(-1)).toContain('"origin":"http://localhost:3000"');
  await service.ask({ method: "OPTIONS", path: "/v1/widget/messages", headers: { origin: "x".repeat(999) } });
  expect(service.logged.at(-1)).toContain(`"origin":"${"x".repeat(200)}"`);
  await service.post("/v1/widget/visitors", "", { headers: { ...asked, origin: ORIGIN } });
  expect(service.logged.at(-1)).not.toContain("origin");
});
