// For src/admission/keys.ts
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { bearerFrom, hasHash, keyCheck } from "../../src/admission/keys.ts";
import { Secret } from "../../src/secret.ts";

test.each([
  ["Bearer KEY", "KEY"],
  ["bearer KEY", "KEY"],
  ["Bearer   KEY", "KEY"],
  ["Bearer", null],
  ["Bearer ", null],
  ["Basic KEY", null],
  ["Bearer KEY extra", null],
  ["Bearer KEY, Bearer KEY", null],
  ["KEY", null],
  [undefined, null],
])("%j holds the key %j", (header, key) => {
  expect(bearerFrom(header)).toBe(key);
});

test("a key is only itself", () => {
  const isKey = keyCheck(new Secret("0123456789"));
  expect(["0123456789", "012345678", "01234567890", "0123456788", ""].map(isKey)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  const hash = createHash("sha256").update("sk_a").digest("hex");
  expect([hasHash("sk_a", hash), hasHash("sk_b", hash), hasHash("sk_a", ""), hasHash("", "")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
