/** The text of a refusal without the punctuation of JSON. */
export function wordsOf(text: string): string {
  return text.replaceAll(/[\s"'`\\{}[\](),:]+/g, " ");
}
