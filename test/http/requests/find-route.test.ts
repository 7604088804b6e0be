// For src/http/find-route.ts, src/http/route.ts, src/http/unknown-path.ts
import { expect, test } from "vitest";
import { createFindRoute } from "../../../src/http/find-route.ts";
import type { Route } from "../../../src/http/route.ts";

const route = (method: Route["method"], path: string, api: Route["api"] = "widget"): Route => ({
  method,
  path,
  api,
  documentation: "hidden",
  handle: () => Promise.reject(new Error("not asked")),
});

const find = createFindRoute([
  route("GET", "/health", "open"),
  route("GET", "/threads/:id/messages"),
  route("POST", "/threads"),
  route("OPTIONS", "/threads/*"),
  route("GET", "/files/*", "open"),
]);
const found = (method: string, path: string): string => {
  const match = find({ method, path });
  if (match.type === "found")
    return `${match.route.method} ${match.route.path} ${JSON.stringify(match.params)}`;
  return match.type === "method" ? `405 ${match.allow}` : "404";
};

test.each([
  ["GET", "/health", "GET /health {}"],
  ["GET", "/health/", "404"],
  ["GET", "/Health", "404"],
  ["GET", "//health", "404"],
  ["GET", "/files/a/b", "GET /files/* {}"],
  ["GET", "/files", "404"],
  ["OPTIONS", "/threads/x/y", "OPTIONS /threads/* {}"],
  ["GET", "/threads/t1/messages", 'GET /threads/:id/messages {"id":"t1"}'],
  ["GET", "/threads/a%20b/messages", 'GET /threads/:id/messages {"id":"a b"}'],
  ["GET", "/threads/t1/messages/more", "404"],
  ["GET", "/threads/t1", "404"],
])("there is one spelling of each path: %s %s", (method, path, expected) => {
  expect(found(method, path)).toBe(expected);
});

test.each(["", "%2F", "a%2Fb", "%00", "a%0Ab", "%", "%ff", "%zz"])(
  "what cannot be an id finds nothing: %j",
  (id) => {
    expect(found("GET", `/threads/${id}/messages`)).toBe("404");
  },
);

test.each([
  ["POST", "/health", "405 GET, HEAD"],
  ["DELETE", "/threads/t1/messages", "405 GET, OPTIONS"],
  ["PUT", "/threads", "405 POST"],
])("a known path with another method names those that it has: %s %s", (method, path, expected) => {
  expect(found(method, path)).toBe(expected);
});

test("a HEAD finds the GET of an open route, and of no other", () => {
  expect(found("HEAD", "/health")).toBe("GET /health {}");
  expect(found("HEAD", "/files/x")).toBe("GET /files/* {}");
  expect(found("HEAD", "/threads/t1/messages")).toBe("405 GET, OPTIONS");
});
