// For src/http/stream/ndjson.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { encodeLines } from "../../../src/http/stream/ndjson.ts";
import { anyCharacter } from "../../support/any-character.ts";

/** Any UTF-16, with the characters that some splitter takes for a line end well represented. */
const anyText = fc.string({
  unit: fc.oneof(
    { weight: 3, arbitrary: anyCharacter },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...'\n \r \u000b \u000c \u001c \u001d \u001e \u0085 \u2028 \u2029 \\ " \ud800 \udc00 \0'.split(" "),
      ),
    },
  ),
});

const anyLine: fc.Arbitrary<Line> = fc.oneof(
  fc.record({ type: fc.constant("delta" as const), text: anyText }),
  fc.record({
    type: fc.constant("step" as const),
    id: anyText,
    phase: fc.constant("done" as const),
    text: anyText,
  }),
  fc.record({
    type: fc.constant("tool_call" as const),
    tool: anyText,
    arguments: fc.dictionary(anyText, anyText),
    callId: anyText,
  }),
  fc.record({ type: fc.constant("done" as const), elapsedMs: fc.nat() }),
  fc.record({ type: fc.constant("error" as const), message: anyText }),
);

const splitters = {
  "a split on LF": /\n/,
  "a reader of any line end": /\r\n|\r|\n/,
  // eslint-disable-next-line no-control-regex
  "Python's splitlines": /\r\n|[\n\r\u000b\u000c\u001c\u001d\u001e\u0085\u2028\u2029]/,
};

test.each(Object.entries(splitters))(
  "P4: %s finds the lines that were encoded, whatever their text",
  (_name, splitter) => {
    fc.assert(
      fc.property(fc.array(anyLine, { maxLength: 5 }), (lines) => {
        const wire = Buffer.from(encodeLines(lines)).toString();
        const parts = wire.split(splitter);
        expect(parts.pop()).toBe("");
        expect(parts.map((part) => JSON.parse(part))).toEqual(JSON.parse(JSON.stringify(lines)));
      }),
      { numRuns: 300 },
    );
  },
);

test("P4: a lone surrogate travels as an escape, so that the bytes stay UTF-8", () => {
  expect(encodeLines([{ type: "delta", text: "a\ud800" }])).toBe('{"type":"delta","text":"a\\ud800"}\n');
});

test("encodeLines() writes a delta as JSON.stringify does", () => {
  const line: Line = { type: "delta", text: 'He said "no"\n' };
  expect(encodeLines([line])).toBe(`${JSON.stringify(line)}\n`);
});
