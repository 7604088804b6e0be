// For src/models/reply/thoughts.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { createThoughtFilter } from "../../../src/models/reply/thoughts.ts";

function reply(...pieces: string[]): string {
  const filter = createThoughtFilter();
  return pieces.map((piece) => filter.push(piece)).join("") + filter.end();
}

test.each<[what: string, written: string, told: string]>([
  ["at the head", "<think>Hm.</think>\n\nHello", "Hello"],
  ["after white space", "\n <think>Hm.</think>Hello", "Hello"],
  ["under another name", "<thought>Hm.</thought>Hello <thinking>or?</thinking>there", "Hello there"],
  ["in capitals", "<THINK>Hm.</Think>Hello", "Hello"],
  ["empty", "<think></think>Hello", "Hello"],
  ["twice at the head", "<think>a</think>\n<think>b</think>\nHello", "Hello"],
  ["further on", "Hello <think>Hm.</think>there", "Hello there"],
  ["that never ends, at the head", "<think>Hm. Hello", ""],
  ["that never ends, further on", "A <think> tag", "A <think> tag"],
  ["in backticks", "Write `<think>` and `</think>`", "Write `<think>` and `</think>`"],
  ["that is none", " a < b <thing> <thin", " a < b <thing> <thin"],
  ["nowhere, with white space alone", " \n ", " \n "],
])("a thought %s", (_what, written, told) => {
  expect(reply(written)).toBe(told);
  expect(reply(...written.split(""))).toBe(told);
});

test.each([
  ["Hello <think>Hm, so", "Hello "],
  ["Hello <think>Hm.</think>there <thought>Hm, so", "Hello there "],
  ["Hello <thin", "Hello <thin"],
  ["Write `<think>` there", "Write `<think>` there"],
])(
  "of a turn that is cut, or calls tools, a thought that was not closed is none of the reply: %s",
  (written, told) => {
    for (const pieces of [[written], written.split("")]) {
      const filter = createThoughtFilter();
      expect(pieces.map((piece) => filter.push(piece)).join("") + filter.end(true)).toBe(told);
    }
  },
);

function replyInThought(pieces: string[], isCut = false): string {
  const filter = createThoughtFilter({ beginsInThought: true });
  return pieces.map((piece) => filter.push(piece)).join("") + filter.end(isCut);
}

test.each<[what: string, written: string, isCut: boolean, told: string]>([
  ["is closed", "Hm.\n</think>\n\nHello", false, "Hello"],
  ["is opened once more", "<think>Hm.</think>Hello", false, "Hello"],
  ["is closed under another name", "Hm.</THOUGHT>Hello", false, "Hello"],
  ["is followed by another one", "Hm.</think>Hello <think>or?</think>there", false, "Hello there"],
  ["is cut", "Hm. <b", true, ""],
  ["is none", "Hello < there", false, "Hello < there"],
  ["is opened and never closed", "<think>Hm.", false, ""],
  ["is longer than any reply", "x".repeat(140_000), false, ""],
])("where the template opens it, a thought that %s", (_what, written, isCut, told) => {
  expect(replyInThought([written], isCut)).toBe(told);
  expect(replyInThought(written.split(""), isCut)).toBe(told);
});

test("where the template opens the thought, the reply is told as it comes after it", () => {
  const filter = createThoughtFilter({ beginsInThought: true });
  const pieces = ["Hm", ".</thi", "nk>\n", "Hel", "lo"];
  expect(pieces.map((piece) => filter.push(piece))).toEqual(["", "", "", "Hel", "lo"]);
});

test("what is told does not depend on where the stream is cut", () => {
  const part = fc.constantFrom(
    "<think>",
    "</think>",
    "<thought>",
    "</thought>",
    "<",
    "`",
    " ",
    "a",
    "İ",
    "\n",
    "<th",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(5), { minLength: 1 }), (parts, sizes) => {
      const text = parts.join("");
      const pieces: string[] = [];
      for (let at = 0, n = 0; at < text.length; n += 1) {
        const size = 1 + (sizes[n % sizes.length] ?? 0);
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      expect(reply(...pieces)).toBe(reply(text));
      expect(replyInThought(pieces)).toBe(replyInThought([text]));
    }),
    { numRuns: 2_000 },
  );
});

test("text without a tag is told as it comes", () => {
  const filter = createThoughtFilter();
  expect(["Hel", "lo", " there"].map((piece) => filter.push(piece))).toEqual(["Hel", "lo", " there"]);
});

test("G1: white space without an end does not wait for one, and text within a thought is not kept without one", () => {
  const blank = createThoughtFilter();
  let told = 0;
  for (let n = 0; n < 10_000; n += 1) told += blank.push("\n").length;
  expect(told).toBeGreaterThan(8_900);
  const open = createThoughtFilter();
  expect(open.push("Hello <think>")).toBe("Hello ");
  for (let n = 0; n < 20; n += 1) expect(open.push("x".repeat(100_000))).toBe("");
  expect(open.end()).toBe("");
});
