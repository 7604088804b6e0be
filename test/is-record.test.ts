// For src/is-record.ts
import { expect, test } from "vitest";
import { isRecord } from "../src/is-record.ts";

test.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ["{}", false],
  [1, false],
])("of %j it says %j", (value, is) => {
  expect(isRecord(value)).toBe(is);
});
