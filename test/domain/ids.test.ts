// For src/domain/ids.ts
import { expect, test } from "vitest";
import { newId } from "../../src/domain/ids.ts";

test("an id is 22 characters of base64url, no two are one, and none looks like an option", () => {
  const ids = Array.from({ length: 5_000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{21}$/);
  expect(new Set(ids).size).toBe(ids.length);
});
