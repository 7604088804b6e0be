import type { Phrases, Product } from "./phrases.ts";

/** A line of a shop's search: `id: red-mug, Red mug, 18 euros`. */
const PRODUCT = /^id: [\w-]{1,60}, ([^,\n]{1,100}), (\d{1,9}(?:[.,]\d\d)?) euros$/;

/** A sentence, or several: said as it is. */
const SENTENCES = /^\p{Lu}[^\n]*[.!?]$/u;

/**
 * What a tool has answered, as an assistant says it: a product by its price, a sentence as it is, and anything else behind a
 * few words. `several`: products are named even if there is one alone.
 */
export function sayResult(text: string, phrases: Phrases, several?: "several"): string {
  const products = productsIn(text);
  const [only] = products;
  if (only === undefined) return SENTENCES.test(text) ? text : phrases.result(text);
  return products.length === 1 && !several
    ? phrases.costs(only)
    : phrases.thereIs(products.map(phrases.priced).join(", "));
}

/** Empty if the text is anything else. */
function productsIn(text: string): Product[] {
  const found = text.split("\n").map((line) => PRODUCT.exec(line));
  return found.every((match) => match !== null)
    ? found.map(([, name = "", price = ""]) => ({ name, price }))
    : [];
}
