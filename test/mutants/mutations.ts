/** A line of code with one planted mistake. */
export interface Mutation {
  /** Counted from 1. */
  line: number;
  before: string;
  after: string;
}

/** What is replaced by what, in a line of code. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/ === /, " !== "],
  [/ !== /, " === "],
  [/ < /, " <= "],
  [/ <= /, " < "],
  [/ > (?![^(]*=>)/, " >= "],
  [/ >= /, " > "],
  [/ && /, " || "],
  [/ \|\| /, " && "],
  [/ \+ (?=[\w(])/, " - "],
  [/ - (?=[\w(])/, " + "],
  [/\btrue\b/, "false"],
  [/\bfalse\b/, "true"],
  [/\bif \((?!!)(.*)\) /, "if (!($1)) "],
  [/ \? (.+) : (.+?)(;|,)$/, " ? $2 : $1$3"],
];
/** A statement of one line that does something: it is left out. */
const STATEMENT = /^\s+(await |void )?[\w.#!?[\]]+(\(.*\)| \+?= .*);$/;
const NOT_CODE =
  /^\s*(\/\/|\/?\*|import\b|export (type|interface)|type\b|interface\b|readonly\b|const \w+ = \[?["`'])/;

/** Every mistake that can be planted in this text, line by line. */
export function mutationsOf(text: string): Mutation[] {
  return text.split("\n").flatMap((before, at) => {
    if (NOT_CODE.test(before)) return [];
    const replaced = REPLACED.filter(([pattern]) => pattern.test(before)).map(([pattern, by]) =>
      before.replace(pattern, by),
    );
    const all = STATEMENT.test(before) ? [...replaced, ""] : replaced;
    return all.filter((after) => after !== before).map((after) => ({ line: at + 1, before, after }));
  });
}
