/**
 * Formulae in LaTeX: `\(…\)`, `\[…\]`, `$$…$$`, and `$…$` as pandoc knows it (https://pandoc.org/MANUAL.html#math): no space
 * inside the dollars, no digit after the last one; also none after the first one, and something to calculate within. So "$5
 * and $6" is no formula. What is one stays as it is written.
 */
const CLOSERS: readonly (readonly [opener: string, closer: string])[] = [
  ["\\(", "\\)"],
  ["\\[", "\\]"],
  ["$$", "$$"],
];

/** Where the formulae of one text end. */
export class Formulae {
  readonly #text: string;
  /** Closers that do not come any more: the rest of the text is searched for each but once. */
  readonly #over = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Where the formula that begins here ends; 0: none begins here. */
  endAt(at: number): number {
    for (const [opener, closer] of CLOSERS) {
      if (!this.#text.startsWith(opener, at)) continue;
      const end = this.#endOf(closer, at + 2);
      return end > 0 && isFormula(this.#text.slice(at, end)) ? end : 0;
    }
    return this.#text[at] === "$" ? this.#endOfDollars(at) : 0;
  }

  #endOf(closer: string, from: number): number {
    const at = this.#over.has(closer) ? -1 : this.#text.indexOf(closer, from);
    if (at < 0) this.#over.add(closer);
    return at < 0 ? 0 : at + 2;
  }

  #endOfDollars(at: number): number {
    const end = this.#text.indexOf("$", at + 1);
    const within = end < 0 ? "" : this.#text.slice(at + 1, end);
    const isOne = /^[^\s\d](?:[^\n]*\S)?$/.test(within) && !/\d/.test(this.#text[end + 1] ?? "");
    return isOne && /[\\^_={}]|\w\*\w/.test(within) ? end + 1 : 0;
  }
}

/** An escaped bracket, as in `\[1\]`, is none: there is something to calculate in a formula. */
function isFormula(text: string): boolean {
  return !text.startsWith("\\[") || /[\\^_={}<>+*/\n]/.test(text.slice(2, -2));
}
