// For src/admission/origin.ts, src/admission/refused-origins.ts
import { expect, test } from "vitest";
import { comesFrom, provenanceOf } from "../../src/admission/origin.ts";

const ORIGINS = ["https://shop.example", "http://localhost:3000"];

test.each([
  ["https://shop.example", true],
  ["http://localhost:3000", true],
  ["http://shop.example", false],
  ["https://SHOP.example", false],
  ["https://shop.example:443", false],
  ["https://shop.example.evil", false],
  ["https://evil-shop.example", false],
  ["", false],
  ["null", false],
])("P22: an origin is compared letter by letter: %s", (origin, isAllowed) => {
  expect(comesFrom({ type: "origin", origin }, [...ORIGINS, "null"])).toBe(isAllowed);
});

test.each([
  ["shop.example", true],
  ["localhost:3000", true],
  ["localhost", false],
  ["shop.example:443", false],
  ["p.example", false],
  ["shop", false],
  ["", false],
])("P22: so is a host: %s", (host, isAllowed) => {
  expect(comesFrom({ type: "host", host }, ORIGINS)).toBe(isAllowed);
});

test("P22: a host speaks for an origin in a same-origin GET alone", () => {
  const from = (method: string, headers: Record<string, string>) =>
    provenanceOf({ method, headers: new Map(Object.entries({ host: "shop.example", ...headers })) });
  expect(from("GET", { "sec-fetch-site": "same-origin" })).toEqual({ type: "host", host: "shop.example" });
  expect(from("POST", { "sec-fetch-site": "same-origin" })).toBeNull();
  expect(from("GET", { "sec-fetch-site": "same-site" })).toBeNull();
  expect(from("GET", {})).toBeNull();
  const both = from("GET", { "sec-fetch-site": "same-origin", origin: "https://other.example" });
  expect(both).toEqual({ type: "origin", origin: "https://other.example" });
});
