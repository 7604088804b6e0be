import { z } from "zod";

const Found = z.object({ passages: z.array(z.object({ text: z.string() })) });

/** Longer answers are no answers. */
const MOST_CHARS = 320;
/** Of shorter beginnings too many words have the same. */
const STEM = 4;

/**
 * What passages say to a question: of the best one the sentence with most of the question's words, and the one behind it. Null: there
 * are no passages.
 */
export function answerFrom(found: string, question: string): string | null {
  const parsed = Found.safeParse(parseJson(found));
  const [best] = parsed.success ? parsed.data.passages : [];
  if (!best) return null;
  const stems = new Set(wordsOf(question).map((word) => word.slice(0, STEM)));
  const sentences = best.text.split(/(?<=[.!?])\s+|\n/u);
  const scores = sentences.map(
    (sentence) => wordsOf(sentence).filter((word) => stems.has(word.slice(0, STEM))).length,
  );
  const at = scores.indexOf(Math.max(...scores));
  const [first = "", second = ""] = sentences.slice(at);
  const both = second === "" ? first : `${first} ${second}`;
  return both.length <= MOST_CHARS ? both : first.slice(0, MOST_CHARS);
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
