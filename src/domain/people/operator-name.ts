import { COMMAND_LINE, RETENTION, VISITOR } from "./operator.ts";

/** Names in the audit that are no operators. */
const NO_OPERATORS = [COMMAND_LINE, VISITOR, RETENTION];
/** The admin of a start without CHANNELS_FILE. */
export const LOCAL_OPERATOR = "local";

const LONGEST_NAME = 64;

/** The recommended scripts of Unicode (UAX 31, table 5), each with those that are written beside it. */
const SCRIPTS = [
  /\p{scx=Latn}/u,
  /\p{scx=Grek}/u,
  /\p{scx=Cyrl}/u,
  /\p{scx=Armn}/u,
  /\p{scx=Hebr}/u,
  /\p{scx=Arab}/u,
  /\p{scx=Thaa}/u,
  /\p{scx=Deva}/u,
  /\p{scx=Beng}/u,
  /\p{scx=Guru}/u,
  /\p{scx=Gujr}/u,
  /\p{scx=Orya}/u,
  /\p{scx=Taml}/u,
  /\p{scx=Telu}/u,
  /\p{scx=Knda}/u,
  /\p{scx=Mlym}/u,
  /\p{scx=Sinh}/u,
  /\p{scx=Thai}/u,
  /\p{scx=Laoo}/u,
  /\p{scx=Tibt}/u,
  /\p{scx=Mymr}/u,
  /\p{scx=Geor}/u,
  /\p{scx=Ethi}/u,
  /\p{scx=Khmr}/u,
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}]/u,
  /[\p{scx=Hani}\p{scx=Bopo}]/u,
  /[\p{scx=Hani}\p{scx=Hang}]/u,
];

/** Letters of Cyrillic and Greek that look like Latin ones, in lower case (Unicode, UTS 39, confusables.txt). */
const LOOKALIKES = new Map(
  [
    ["авԁеһіјӏкмноԛрсѕтѵԝухь", "abdehijlkmhoqpcstvwyxb"],
    ["αβγεηικνορτυχωϲϳ", "abyeniknoptuxwcj"],
  ].flatMap(([letters = "", latin = ""]) =>
    Array.from(letters, (letter, nth) => [letter, latin.charAt(nth)] as const),
  ),
);

/** What is wrong with an operator's name; null: nothing. The name appears in paths, tables and beside a person's messages. */
export function operatorNameFault(name: string): string | null {
  if (name === "" || name.length > LONGEST_NAME) return `must have 1 to ${LONGEST_NAME} characters`;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}/]/u.test(name) || name.trim() !== name) {
    return "must have no slash, no control characters or invisible ones, and no space at either end";
  }
  if (!isOfOneScript(name)) return "must have letters of one script";
  if (NO_OPERATORS.some((other) => isSameName(other, name))) return "is what the audit calls somebody else";
  if (name !== LOCAL_OPERATOR && isSameName(LOCAL_OPERATOR, name)) return `looks like ${LOCAL_OPERATOR}`;
  return null;
}

function isOfOneScript(name: string): boolean {
  const letters = name.match(/\p{L}/gu) ?? [];
  return SCRIPTS.some((script) => letters.every((letter) => script.test(letter)));
}

/** Would people take the two for one: but for case, width, composition, accents that are drawn apart, and lookalikes? */
export function isSameName(one: string, other: string): boolean {
  return skeleton(one) === skeleton(other);
}

/** The compatible form (NFKC) in lower case, each letter in the place of its lookalike. */
function skeleton(name: string): string {
  const folded = name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
  return Array.from(folded, (letter) => LOOKALIKES.get(letter) ?? letter).join("");
}
