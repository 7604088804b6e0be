// For src/knowledge/
import { expect, test } from "vitest";
import { measureQuality } from "../../bench/knowledge/quality.ts";

test("K2: of 60 questions at least 85 % are answered by one of the first three passages", () => {
  const { questions, firstThree } = measureQuality();
  expect(questions).toBe(60);
  expect(firstThree).toBeGreaterThanOrEqual(Math.ceil(questions * 0.85));
});
