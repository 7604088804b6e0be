// For src/cli/chat/wrap-words.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { wrapWords } from "../../src/cli/chat/wrap-words.ts";

function wrapped(pieces: readonly string[], columns: number): string {
  const wrapper = wrapWords(() => columns);
  return pieces.map((piece) => wrapper.add(piece)).join("") + wrapper.end();
}

test("breaks between words, wherever the pieces end", () => {
  expect(wrapped(["The blue mug ", "costs 1", "2 euros"], 12)).toBe("The blue mug\ncosts 12\neuros");
});

test("keeps line ends, indents, and words that are longer than a line", () => {
  expect(wrapped(["- one\n  - two\n\nabcdefghijkl m"], 8)).toBe("- one\n  - two\n\nabcdefghijkl m");
});

test("counts two columns for characters that take two", () => {
  expect(wrapped(["\u65e5\u672c \u8a9e"], 6)).toBe("\u65e5\u672c\n\u8a9e");
});

test("for any text: the words stay, in order, and a line that could be broken is not too long", () => {
  const texts = fc.array(fc.stringMatching(/^[a-z \n]{0,30}$/), { maxLength: 8 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (pieces, columns) => {
      const shown = wrapped(pieces, columns);
      expect(shown.split(/\s+/).filter(Boolean)).toEqual(pieces.join("").split(/\s+/).filter(Boolean));
      for (const line of shown.split("\n")) {
        if (line.trim().includes(" ") && !/[a-z]{20}/.test(line)) {
          const longest = Math.max(
            ...line
              .trim()
              .split(/ +/)
              .map((word) => word.length),
          );
          if (longest <= columns && !line.startsWith(" ")) expect(line.length).toBeLessThanOrEqual(columns);
        }
      }
    }),
  );
});
