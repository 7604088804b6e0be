/**
 * Is a regular expression linear in its input by its shape alone? It is where nothing that repeats without end stands within
 * something that repeats, nor a choice or another repetition within something that repeats without end, and
 * - nothing repeats without end, or
 * - it is anchored at its start, and one thing repeats without end, or
 * - it is one atom that repeats, and nothing behind it can make it fail.
 * What is linear for another reason says so in the list of regular-expressions.test.ts.
 */
export function isLinearByShape(source: string, flags: string): boolean {
  return alternativesOf(source).every(({ text, repeats, nested }) => {
    if (nested) return false;
    if (repeats === 0) return true;
    if (repeats > 1) return false;
    return (text.startsWith("^") && !flags.includes("m")) || /^A[*+]$/.test(text);
  });
}

interface Alternative {
  /** With `A` for each class, escape and literal. */
  text: string;
  /** How much in it repeats without end. */
  repeats: number;
  nested: boolean;
}

interface Group {
  /** It can match in several ways: a choice, or a repetition, stands in it. */
  chooses: boolean;
  /** Something in it repeats without end. */
  isEndless: boolean;
}

/** One class, escape or quantifier, or a single character; a lookaround's head counts as a group's. */
const TOKEN =
  /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|.)|\(\?(?:<?[=!]|:|<\w+>)|\{\d+(?:,\d*)?\}|./gsu;

function alternativesOf(source: string): Alternative[] {
  const alternatives: Alternative[] = [];
  let current: Alternative = { text: "", repeats: 0, nested: false };
  const groups: Group[] = [];
  /** The group that has just ended. */
  let closed: Group | null = null;
  for (const [token] of source.matchAll(TOKEN)) {
    const isQuantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})$/.test(token);
    if (isQuantifier) {
      const isEndless = token === "*" || token === "+" || token.endsWith(",}");
      if (isEndless) current.repeats += 1;
      // A `?` behind a group repeats nothing.
      if (closed && token !== "?" && (isEndless ? closed.chooses : closed.isEndless)) current.nested = true;
      for (const group of groups) {
        group.chooses = true;
        group.isEndless ||= isEndless;
      }
      current.text += token;
      closed = null;
      continue;
    }
    closed = null;
    if (token.startsWith("(")) groups.push({ chooses: false, isEndless: false });
    else if (token === ")") closed = groups.pop() ?? null;
    else if (token === "|") for (const group of groups) group.chooses = true;
    if (token === "|" && groups.length === 0) {
      alternatives.push(current);
      current = { text: "", repeats: 0, nested: false };
    } else {
      current.text += "^$()|".includes(token) || token.startsWith("(?") ? token : "A";
    }
  }
  return [...alternatives, current];
}
