// For src/domain/people/operator-name.ts
import { describe, expect, test } from "vitest";
import { isSameName, operatorNameFault } from "../../src/domain/people/operator-name.ts";

describe("A5: the name of an operator", () => {
  test.each([
    "local",
    "ada",
    "Ada L",
    "Zoë Ångström",
    "анна",
    "Ελένη",
    "山田 はな",
    "김민수",
    "ada@example.com",
    "o'neil",
  ])("%s is one", (name) => expect(operatorNameFault(name)).toBeNull());

  test.each([
    ["Local", "looks like local"],
    ["LOCAL", "looks like local"],
    // Full width, and Cyrillic in part and as a whole.
    ["ｌｏｃａｌ", "looks like local"],
    ["lосаl", "must have letters of one script"],
    ["ӏосаӏ", "looks like local"],
    ["ｖｉｓｉｔｏｒ", "is what the audit calls somebody else"],
    ["Command Line", "is what the audit calls somebody else"],
    ["Retention", "is what the audit calls somebody else"],
    ["ada\u2060", "must have no slash, no control characters or invisible ones, and no space at either end"],
    ["ada\u3164", "must have no slash, no control characters or invisible ones, and no space at either end"],
    ["ᏞᎾᏟᎪᏞ", "must have letters of one script"],
  ])("%s %s", (name, fault) => expect(operatorNameFault(name)).toBe(fault));

  test.each([
    ["ada", "ADA"],
    ["Zoë", "zoe\u0308"],
    ["ada", "ａｄａ"],
    ["straße", "STRASSE"],
    ["ора", "opa"],
  ])("%s and %s are one", (one, other) => expect(isSameName(one, other)).toBe(true));

  test("however a letter is written, composed or in another case, it is one", () => {
    const forms = ["NFC", "NFD", "NFKC", "NFKD"] as const;
    const different: string[] = [];
    for (let point = 0; point <= 0x1ffff; point += 1) {
      const letter = String.fromCodePoint(point);
      if (!/\p{L}/u.test(letter)) continue;
      const written = [...forms.map((form) => letter.normalize(form)), letter.toUpperCase()];
      if (!written.every((other) => isSameName(letter, other))) different.push(letter);
    }
    expect(different).toEqual([]);
  });
});
