// For src/stores/steps/known.ts
import { expect, it } from "vitest";
import { createKnown } from "../../src/stores/steps/known.ts";

it("P18: knows the users that were set last, and no more than it may", () => {
  const known = createKnown<string>(2);
  known.set("a", "u1");
  known.set("b", "u2");
  known.set("a", "u3");
  known.set("c", "u4");
  expect(["a", "b", "c"].map((key) => known.get(key))).toEqual(["u3", undefined, "u4"]);
  known.forget("a");
  expect(known.get("a")).toBeUndefined();
});
