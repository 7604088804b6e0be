/** Breaks streamed text between words, so that the terminal does not break it inside one. */
export interface WordWrapper {
  /** The text to show now; the last word waits until it is complete. */
  add(text: string): string;
  /** The word that is still waiting. */
  end(): string;
}

/** Characters of East Asian scripts and most emoji take two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const TAB = 8;

/** `columns` is called for each word: the window's size may change meanwhile. */
export function wrapWords(columns: () => number): WordWrapper {
  let column = 0;
  let word = "";
  let gap = "";

  /** The gap and the word after it; a line end replaces the gap if the word does not fit. */
  function flush(): string {
    if (word === "") return "";
    const width = widthOf(word);
    const breaks = column > 0 && column + widthOf(gap) + width > columns();
    const shown = breaks ? `\n${word}` : `${gap}${word}`;
    column = breaks ? width : column + widthOf(gap) + width;
    // The terminal breaks a word that is longer than a line.
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
