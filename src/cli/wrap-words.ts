/** Breaks text that comes in pieces between its words, before a terminal breaks it within one. */
export interface WordWrapper {
  /** What may be shown now: the last word waits until it is known to be whole. */
  add(text: string): string;
  /** The word that waited. */
  end(): string;
}

/** Characters of East Asian scripts, and most pictures, take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const TAB = 8;

/** `columns` is asked anew for each word: a window may be made smaller meanwhile. */
export function wrapWords(columns: () => number): WordWrapper {
  let column = 0;
  let word = "";
  let gap = "";

  /** The gap and the word after it; a line end instead of the gap where both do not fit. */
  function flush(): string {
    if (word === "") return "";
    const width = widthOf(word);
    const breaks = column > 0 && column + widthOf(gap) + width > columns();
    const shown = breaks ? `\n${word}` : `${gap}${word}`;
    column = breaks ? width : column + widthOf(gap) + width;
    // A word longer than the line is broken by the terminal.
    if (column > columns()) column %= columns();
    word = gap = "";
    return shown;
  }

  return {
    add(text) {
      let shown = "";
      for (const character of text) {
        if (character === "\n") {
          shown += `${flush()}\n`;
          column = 0;
          gap = "";
        } else if (character === " " || character === "\t") {
          shown += flush();
          gap += character;
        } else {
          word += character;
        }
      }
      return shown;
    },
    end: () => flush(),
  };
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += character === "\t" ? TAB : WIDE.test(character) ? 2 : 1;
  return width;
}
