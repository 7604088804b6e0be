// For src/domain/channels/tool-text.ts
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RESULT_TEXT_CHARS, resultText } from "../../src/domain/channels/tool-text.ts";
import { anyCharacter } from "../support/any-character.ts";

describe("resultText()", () => {
  it.each<[string, unknown, string]>([
    [
      "joins the text parts of an MCP-style object by newlines",
      { content: [{ type: "text", text: "a" }, { text: "b" }] },
      "a\nb",
    ],
    [
      "names what is no text, and leaves out what is no part",
      {
        content: [
          { type: "image", data: "iVBO", mimeType: "image/png" },
          { text: "b" },
          { text: 7 },
          null,
          { type: "resource_link", name: "bill", uri: "https://shop.example/7" },
        ],
      },
      "[image image/png: it cannot be shown to you]\nb\n[link bill https://shop.example/7]",
    ],
    ["gives the JSON of the whole where no part is one", { content: ["a"], n: 1 }, '{"content":["a"],"n":1}'],
    ["gives the JSON of the whole where content is no array", { content: "hello" }, '{"content":"hello"}'],
    ["takes an MCP-style object without parts as empty", { content: [] }, ""],
    [
      "takes the structured content where there are no parts",
      { content: [], structuredContent: { price: 3 } },
      '{"price":3}',
    ],
    [
      "takes the parts where there are both",
      { content: [{ type: "text", text: "three" }], structuredContent: { price: 3 } },
      "three",
    ],
    ["takes a string as it is", "plain", "plain"],
    ["takes an empty string", "", ""],
    ["takes null", null, "null"],
    ["takes false", false, "false"],
    ["takes 0", 0, "0"],
    ["serializes other JSON", { price: 3, tags: ["a"] }, '{"price":3,"tags":["a"]}'],
    ["serializes a list", [1, "2"], '[1,"2"]'],
    ["replaces a lone surrogate", "a\ud800b", "a\ufffdb"],
  ])("%s", (_, result, text) => {
    expect(resultText(result)).toBe(text);
  });

  it("keeps 4,000 characters and cuts the 4,001st", () => {
    expect(resultText("x".repeat(4_000))).toHaveLength(4_000);
    expect(resultText("x".repeat(4_001))).toHaveLength(4_000);
    expect(resultText("x".repeat(131_000))).toHaveLength(4_000);
  });

  it("cuts before a surrogate pair, never inside it", () => {
    expect(resultText("x".repeat(3_999) + "😀")).toBe("x".repeat(3_999));
    expect(resultText("x".repeat(3_998) + "😀")).toBe("x".repeat(3_998) + "😀");
  });

  it("joins 10,000 parts and cuts once", () => {
    const text = resultText({
      content: Array.from({ length: 10_000 }, () => ({ type: "text", text: "part" })),
    });
    expect(text).toHaveLength(RESULT_TEXT_CHARS);
    expect(text.startsWith("part\npart\n")).toBe(true);
  });

  it("gives well-formed text of at most 4,000 characters for any JSON", () => {
    const strings = fc.string({ unit: anyCharacter, maxLength: 5_000 });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          strings,
          strings.map((text) => ({ content: [{ text }] })),
        ),
        (result) => {
          const text = resultText(result);
          expect(text.length).toBeLessThanOrEqual(RESULT_TEXT_CHARS);
          expect(text).not.toMatch(/\p{Surrogate}/u);
        },
      ),
      { numRuns: 200 },
    );
  });
});
