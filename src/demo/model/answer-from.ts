import { z } from "zod";

const Found = z.object({ passages: z.array(z.object({ text: z.string() })) });

/** Longer answers are no answers. */
const MOST_CHARS = 320;
/** Of shorter beginnings too many words have the same. */
const STEM = 4;

/** Passages that are looked at: what is further down rather belongs to something else. */
const BEST = 3;
const ASKS_HOW_MUCH =
  /\b(how (long|many|much|often)|when|wie (lange|viele?|oft)|wann|cuánt|combien|quanto|quand)/i;

/**
 * What passages say to a question: of the best ones the sentence with most of the question's words, and the one behind it; a number
 * counts where one is asked for. Null: there are no passages.
 */
export function answerFrom(found: string, question: string): string | null {
  const parsed = Found.safeParse(parseJson(found));
  const passages = parsed.success ? parsed.data.passages.slice(0, BEST) : [];
  const asked = stemsOf(question);
  const asksHowMuch = ASKS_HOW_MUCH.test(question);
  const scored = passages.flatMap(({ text }) => {
    const sentences = text.split(/(?<=[.!?]) |\n/u);
    return sentences.map((first, at) => {
      const said = stemsOf(first);
      const common = [...asked].filter((stem) => said.has(stem)).length;
      const numbers = asksHowMuch && /\d/.test(first) ? 1 : 0;
      return { first, second: sentences[at + 1] ?? "", score: common + numbers };
    });
  });
  // The earlier one of two that are as good.
  const [best] = scored.toSorted((one, other) => other.score - one.score);
  if (!best) return null;
  const { first, second } = best;
  const both = second === "" ? first : `${first} ${second}`;
  return both.length <= MOST_CHARS ? both : first.slice(0, MOST_CHARS);
}

function stemsOf(text: string): Set<string> {
  return new Set(wordsOf(text).map((word) => word.slice(0, STEM)));
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => word.length >= STEM);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
