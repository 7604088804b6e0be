// For src/knowledge/search/passage-index.ts, src/knowledge/search/words.ts
import { describe, expect, test } from "vitest";
import { createPassageIndex } from "../../src/knowledge/search/passage-index.ts";
import { wordsOf } from "../../src/knowledge/search/words.ts";

const passage = (id: string, text: string, heading = "") => ({
  id,
  url: `https://x.example/${id}`,
  title: "",
  heading,
  text,
});
const found = (index: ReturnType<typeof createPassageIndex>, question: string, most = 6) =>
  index.search(question, most).map(({ url }) => url.slice(url.lastIndexOf("/") + 1));

describe("the index of passages", () => {
  test("finds by other forms of a word, by its beginning, without regard to accents and case", () => {
    const index = createPassageIndex();
    index.add([
      passage("a", "We deliver on working days"),
      passage("b", "A café in Genève"),
      passage("c", "Lieferzeiten nach Wien"),
    ]);
    expect(found(index, "Do you deliver on Sundays?")).toEqual(["a"]);
    expect(found(index, "CAFE geneve")).toEqual(["b"]);
    expect(found(index, "Lieferzeit")).toEqual(["c"]);
    expect(found(index, "zebra")).toEqual([]);
    expect(found(index, "")).toEqual([]);
    expect(found(index, "what is the")).toEqual([]);
  });

  test("finds words that no spaces divide", () => {
    const index = createPassageIndex();
    index.add([
      passage("a", "東京への配送は三日かかります"),
      passage("b", "返品は三十日以内にできます"),
      passage("c", "การจัดส่งใช้เวลาสามวัน"),
    ]);
    expect(found(index, "返品できますか", 1)).toEqual(["b"]);
    expect(found(index, "配送", 1)).toEqual(["a"]);
    expect(found(index, "จัดส่ง", 1)).toEqual(["c"]);
  });

  test("ranks what a heading says above what a text mentions, and gives no more than asked", () => {
    const index = createPassageIndex();
    index.add([
      passage("a", "The refund of a voucher, or a refund of something else"),
      passage("b", "Within five days", "When you get your refund"),
      passage("c", "A voucher"),
    ]);
    expect(found(index, "refund")).toEqual(["b", "a"]);
    expect(found(index, "refund", 1)).toEqual(["b"]);
    const [best, next] = index.search("refund", 2);
    expect(best).toMatchObject({ url: "https://x.example/b", heading: "When you get your refund" });
    expect(best?.score).toBeGreaterThan(next?.score ?? Infinity);
  });

  test("has a passage in its latest form, and none that was removed", () => {
    const index = createPassageIndex();
    index.add([passage("a", "open on Monday"), passage("b", "closed on Sunday")]);
    index.add([passage("a", "open on Tuesday")]);
    index.remove(["b", "unknown"]);
    expect(index.size()).toBe(1);
    expect(found(index, "monday")).toEqual([]);
    expect(found(index, "tuesday")).toEqual(["a"]);
    expect(found(index, "sunday")).toEqual([]);
    index.add([passage("b", "closed on Sunday")]);
    expect(found(index, "sunday")).toEqual(["b"]);
  });
});

test("words are those of Unicode, without what nearly every text has", () => {
  expect(wordsOf("What’s the “Größe” of 2 x-large T-shirts (in €)?")).toEqual([
    "what’s",
    "große",
    "2",
    "x",
    "larg",
    "t",
    "shirt",
  ]);
  expect(wordsOf("returning returned returns")).toEqual(["return", "return", "return"]);
});
