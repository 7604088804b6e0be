// For src/client/core/printable.ts
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { printable } from "../../src/client/core/printable.ts";

test.each([
  ["12 \u200f34 56", "12 \ufffd34 56"],
  ["12 \u061c34 \u200e56", "12 \ufffd34 \ufffd56"],
  ["\u202edecalper\u202c \u2066is\u2069", "\ufffddecalper\ufffd \ufffdis\ufffd"],
  [
    "soft\u00adly, ad\u200bmin, pay\u2060pal, \ufeffbom, \u3164",
    "soft\ufffdly, ad\ufffdmin, pay\ufffdpal, \ufffdbom, \ufffd",
  ],
  ["a\u200db\u200c c\u200d", "a\ufffdb\ufffd c\ufffd"],
  ["\u001b[2J\r\u0000\u007f\u0085\u2028", "\ufffd[2J\ufffd\ufffd\ufffd\ufffd\ufffd"],
  ["hidden\u{e0068}\u{e0069}", "hidden\ufffd\ufffd"],
  ["half \ud83d of a pair", "half \ufffd of a pair"],
  ["a\ufe00\ufe01\ufe02", "a\ufe00\ufffd\ufffd"],
])("G16: %j: what is not seen is shown to be there", (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test.each(["two\nlines\tand a tab", "مرحبا, שלום, naïve, नमस्ते", "می‌خواهم", "👩‍👩‍👧, 👍🏽, ❤️, 1️⃣, 🏴󠁧󠁢󠁥󠁮󠁧󠁿, 🏳️‍🌈", "葛󠄀飾"])(
  "%s: stays as it is",
  (text) => {
    expect(printable(text)).toBe(text);
  },
);

test("it takes time in proportion to the text", () => {
  expect(printable("\u{1f3f4}".repeat(20_000) + "\u{e0061}".repeat(20_000)).length).toBeGreaterThan(40_000);
});

test("the card, the console and the terminal have this one function", () => {
  for (const file of [
    "widget/run/tab/confirm-call.ts",
    "console/parts/printable-nodes.ts",
    "cli/chat/chat-printer.ts",
    "cli/command/print.ts",
  ])
    expect(readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8")).toContain(
      "client/core/printable.ts",
    );
});
