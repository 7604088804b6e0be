// For src/knowledge/passages.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { PASSAGE_CHARS, passagesOf } from "../../src/knowledge/passages.ts";

const words = (text: string) => text.split(/\s+/u).filter((word) => word !== "");

test("a section is a passage, with the page's title and the headings above it", () => {
  const sections = [
    { headings: ["Costs", "Over 50 €"], text: "free" },
    { headings: [], text: "We send every day." },
  ];
  expect(passagesOf({ title: "Delivery", sections })).toEqual([
    { title: "Delivery", heading: "Costs › Over 50 €", text: "free" },
    { title: "Delivery", heading: "", text: "We send every day." },
  ]);
  expect(passagesOf({ title: "", sections })[1]?.title).toBe("Costs");
  expect(passagesOf({ title: "", sections: [] })).toEqual([]);
});

test("a long section is several, cut between lines, else after a sentence", () => {
  const line = `${"A sentence of some words. ".repeat(20).trim()}`;
  const [first, second] = passagesOf({
    title: "",
    sections: [{ headings: [], text: [line, line, line].join("\n") }],
  });
  expect(first?.text).toBe([line, line].join("\n"));
  expect(second?.text).toBe(line);
  const long = "A sentence of some words. ".repeat(100).trim();
  for (const { text } of passagesOf({ title: "", sections: [{ headings: [], text: long }] })) {
    expect(text.endsWith(".")).toBe(true);
  }
});

test("K1: no word is lost, doubled or moved, and no passage is longer than it may be: whatever the text", () => {
  const text = fc.array(
    fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom("\n", ". ", "。", "👋 ", "ü ")),
    {
      maxLength: 200,
    },
  );
  fc.assert(
    fc.property(text, (parts) => {
      const whole = parts.join(" ");
      const passages = passagesOf({ title: "", sections: [{ headings: [], text: whole }] });
      expect(words(passages.map((passage) => passage.text).join("\n"))).toEqual(words(whole));
      for (const passage of passages) expect(passage.text.length).toBeLessThanOrEqual(PASSAGE_CHARS);
    }),
  );
  const unbroken = "👋".repeat(2_000);
  const cut = passagesOf({ title: "", sections: [{ headings: [], text: unbroken }] });
  expect(cut.map((passage) => passage.text).join("")).toBe(unbroken);
  for (const { text: piece } of cut) expect(piece.isWellFormed()).toBe(true);
});
