// For machines/line.ts
import { expect, test } from "vitest";
import { cutText, hintFrom } from "../../machines/line.ts";

test("P4: a text is cut at its limit, or one unit sooner where that would halve a pair", () => {
  expect(cutText("abc", 3)).toBe("abc");
  expect(cutText("abcd", 3)).toBe("abc");
  // The first and the last of the pairs, and their neighbours, which are none.
  for (const pair of ["\u{10000}", "\u{10ffff}"]) {
    expect(cutText(`ab${pair}`, 3)).toBe("ab");
    expect(cutText(`ab${pair}`, 4)).toBe(`ab${pair}`);
    expect(cutText(`a${pair}b`, 3)).toBe(`a${pair}`);
  }
  for (const single of ["\ud7ff", "\ue000"]) expect(cutText(`ab${single}d`, 3)).toBe(`ab${single}`);
});

test("a hint is 400 units of a tool's answer", () => {
  expect(hintFrom("x".repeat(500))).toBe("x".repeat(400));
});
