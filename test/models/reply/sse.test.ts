// For src/models/reply/sse.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { sseParser } from "../../../src/models/reply/sse.ts";
import { anyCharacter } from "../../support/any-character.ts";

function parse(...parts: (string | Uint8Array)[]): string[] {
  const events: string[] = [];
  const parser = sseParser((data) => void events.push(data));
  for (const part of parts) parser.push(typeof part === "string" ? Buffer.from(part) : part);
  return events;
}

test("P4: events read the same, wherever their bytes are cut", () => {
  const line = fc
    .string({ unit: anyCharacter })
    .map((text) => Buffer.from(text.replaceAll(/[\r\n]/g, "")).toString());
  const event = fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 3 }), comment: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 8 }),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.boolean(),
      fc.array(fc.nat(200), { minLength: 1, maxLength: 20 }),
      (events, end, bom, sizes) => {
        const text = events
          .map(({ lines, comment }) => {
            const fields = lines.map((each) => `data: ${each}${end}`);
            return (comment ? `: hush${end}id: 7${end}` : "") + fields.join("") + end;
          })
          .join("");
        const whole = Buffer.from((bom ? "\ufeff" : "") + text);
        const parts: Uint8Array[] = [];
        for (let at = 0, n = 0; at < whole.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          parts.push(whole.subarray(at, at + Math.max(1, size)));
          at += Math.max(1, size);
        }
        expect(parse(...parts)).toEqual(events.map(({ lines }) => lines.join("\n")));
      },
    ),
    { numRuns: 300 },
  );
});

test("P4: events read the same, byte by byte", () => {
  const text = "\ufeff: hi\r\ndata: 😀 é\r\ndata:  two\r\n\r\nretry: 3\rdata\rdata: x\r\rdata: last\n\n";
  const expected = ["😀 é\n two", "\nx", "last"];
  expect(parse(text)).toEqual(expected);
  expect(parse(...[...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
});

test("an event is given out as soon as its blank line ends in a CR", () => {
  expect(parse("data: a\r\r")).toEqual(["a"]);
  expect(parse("data: a\r\n\r", "\ndata: b\r\n\r\n")).toEqual(["a", "b"]);
});

test.each(["data: b\n", "data: b", "data: b\r", "event: x\ndata:b"])(
  "M8: an event without its closing blank line is told when the stream ends: %j",
  (last) => {
    const events: string[] = [];
    const parser = sseParser((data) => void events.push(data));
    parser.push(Buffer.from(`data: a\n\n${last}`));
    expect(events).toEqual(["a"]);
    expect(parser.rest()).toBe("b");
  },
);

test("a stream that ends with its last event has no rest", () => {
  const parser = sseParser(() => {});
  parser.push(Buffer.from("data: a\n\n: bye\n"));
  expect(parser.rest()).toBeNull();
});

test("events joined by one newline are several, if each stands alone", () => {
  const events: string[] = [];
  const parser = sseParser(
    (data) => void events.push(data),
    (data) => data.startsWith("<") && data.endsWith(">"),
  );
  parser.push(Buffer.from("data: <a>\ndata: <b>\nevent: x\ndata: <c\ndata: d>\ndata: <e>\n\ndata: <f>\n"));
  expect(events).toEqual(["<a>", "<b>", "<c\nd>\n<e>"]);
  expect(parser.rest()).toBe("<f>");
});

test("an event without data is none", () => {
  expect(parse("event: ping\n\n\n\n: comment\n\ndatabase: x\n\n")).toEqual([]);
});

test("P28: a line without an end is refused", () => {
  const parser = sseParser(() => {});
  const block = Buffer.alloc(1_048_576, "a");
  expect(() => {
    for (let n = 0; n < 6; n += 1) parser.push(block);
  }).toThrow("Cannot read events");
});
