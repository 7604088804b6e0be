/** What a run of delimiters can do. */
export interface Flank {
  canOpen: boolean;
  canClose: boolean;
}

const DIGIT = /\d/;
const SPACE = /\s/;
const ASCII_PUNCTUATION = /[!-/:-@[-`{-~]/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
/**
 * Wide and Hangul characters, punctuation among them, but not emoji. Between them nobody writes spaces, so emphasis
 * begins and ends beside them as beside a space:
 * https://github.com/tats-u/markdown-cjk-friendly/blob/main/specification.md
 */
const CJK =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\u3000-\u303f\ufe30-\ufe4f\uff00-\uffee]/u;
/** A variation of the character before it. */
const VARIATION = /[\ufe00-\ufe0e\u{e0100}-\u{e01ef}]/u;

/** Can the run from `start` to `end` open or close emphasis? CommonMark 0.31, Left- and right-flanking delimiter runs. */
export function flankOf(text: string, start: number, end: number): Flank {
  const before = kindOf(characterBefore(text, start));
  const after = kindOf(String.fromCodePoint(text.codePointAt(end) ?? 0x20));
  // A product, where CommonMark sees emphasis.
  if (end - start === 1 && text[start] === "*" && DIGIT.test(before.character) && DIGIT.test(after.character))
    return { canOpen: false, canClose: false };
  const isLeft = !after.isSpace && (!after.isForeign || before.isSpace || before.isForeign || before.isCjk);
  const isRight = !before.isSpace && (!before.isForeign || after.isSpace || after.isForeign || after.isCjk);
  if (text[start] !== "_") return { canOpen: isLeft, canClose: isRight };
  return {
    canOpen: isLeft && (!isRight || before.isPunctuation),
    canClose: isRight && (!isLeft || after.isPunctuation),
  };
}

/** A line's end if there is none. */
function characterBefore(text: string, at: number): string {
  const last = text[at - 1] ?? " ";
  if (last < "\u0080") return last;
  return Array.from(text.slice(Math.max(0, at - 4), at)).findLast((one) => !VARIATION.test(one)) ?? " ";
}

/** Foreign: punctuation that is not CJK. */
function kindOf(character: string) {
  if (character < "\u0080") {
    const isPunctuation = ASCII_PUNCTUATION.test(character);
    return {
      character,
      isSpace: SPACE.test(character),
      isPunctuation,
      isCjk: false,
      isForeign: isPunctuation,
    };
  }
  const isPunctuation = PUNCTUATION.test(character);
  const isCjk = CJK.test(character);
  return {
    character,
    isSpace: SPACE.test(character),
    isPunctuation,
    isCjk,
    isForeign: isPunctuation && !isCjk,
  };
}
