import { COMMAND_LINE, RETENTION, VISITOR } from "./operator.ts";

/** Names in the audit that are no operators. */
const NO_OPERATORS = [COMMAND_LINE, VISITOR, RETENTION];
/** The admin of a start without CHANNELS_FILE. */
export const LOCAL_OPERATOR = "local";

const LONGEST_NAME = 64;

/** The recommended scripts of Unicode (UAX 31, table 5), each with those that are written beside it. */
const SCRIPTS = [
  ...["Latin", "Greek", "Cyrillic", "Armenian", "Hebrew", "Arabic", "Thaana", "Devanagari", "Bengali"],
  ...["Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao"],
  ...["Tibetan", "Myanmar", "Georgian", "Ethiopic", "Khmer"],
].map((script) => [script]);
const TOGETHER = [
  ["Han", "Hiragana", "Katakana"],
  ["Han", "Bopomofo"],
  ["Han", "Hangul"],
];
const IN_ONE_SCRIPT = [...SCRIPTS, ...TOGETHER].map((scripts) => {
  const letters = scripts.map((script) => `\\p{Script_Extensions=${script}}`).join("");
  return new RegExp(`^[${letters}\\p{Script=Common}\\p{Script=Inherited}]*$`, "u");
});

/** Letters of Cyrillic and Greek that look like Latin ones, in lower case (Unicode, UTS 39, confusables.txt). */
const LOOKALIKES = new Map(
  [
    ["авԁеһіјӏкмноԛрсѕтѵԝухь", "abdehijlkmhoqpcstvwyxb"],
    ["αβγεηικνορτυχωϲϳ", "abyeniknoptuxwcj"],
  ].flatMap(([letters = "", latin = ""]) =>
    [...letters].map((letter, nth) => [letter, [...latin][nth] ?? letter] as const),
  ),
);

/** What is wrong with an operator's name; null: nothing. The name appears in paths, tables and beside a person's messages. */
export function operatorNameFault(name: string): string | null {
  if (name === "" || name.length > LONGEST_NAME) return `must have 1 to ${LONGEST_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}/]/u.test(name) || name.trim() !== name) {
    return "must have no slash, no control or invisible characters, and no space at either end";
  }
  if (!IN_ONE_SCRIPT.some((script) => script.test(name))) return "must have letters of one script";
  if (NO_OPERATORS.some((other) => isSameName(other, name))) return "is what the audit calls somebody else";
  if (name !== LOCAL_OPERATOR && isSameName(LOCAL_OPERATOR, name)) return `looks like ${LOCAL_OPERATOR}`;
  return null;
}

/** Would people take the two for one: but for case, width, composition, accents that are drawn apart, and lookalikes? */
export function isSameName(one: string, other: string): boolean {
  return skeleton(one) === skeleton(other);
}

/** The compatible form (NFKC) in lower case, each letter in the place of its lookalike. */
function skeleton(name: string): string {
  const folded = name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return [...folded].map((letter) => LOOKALIKES.get(letter) ?? letter).join("");
}
