import { stemmer } from "stemmer";

/**
 * Words as the index knows them, in any language: by the rules of Unicode (Intl.Segmenter, which also divides Chinese,
 * Japanese and Thai), in lower case and without accents. Latin words lose their endings as English ones do (Porter's
 * algorithm): a question and its answer are cut alike, so other languages lose little by it.
 */
const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
const MARKS = /\p{M}+/gu;
const LATIN = /^[a-z]+$/;

/** English words that nearly every passage and question has. Those of other languages weigh little by their number alone. */
const COMMON = new Set(
  (
    "a am an and any are as at be but by can could do does for from has have how i if in into is it its may me might must my no " +
    "not of on or our should so that the their them then there these they this to was we what when where which who why will with " +
    "would you your"
  ).split(" "),
);

export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text)) {
    if (!isWordLike) continue;
    const word = segment.toLowerCase().normalize("NFKD").replaceAll(MARKS, "");
    if (word === "" || COMMON.has(word)) continue;
    words.push(LATIN.test(word) ? stemmer(word) : word);
  }
  return words;
}
