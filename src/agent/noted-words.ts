/** Keywords that are free text of the page and are not checked; and two that are shown to the model, but not checked. */
const WORDS = ["title", "description", "default", "examples"] as const;
const TOLD = ["pattern", "format"] as const;

/**
 * A page's schema as the model sees it: all free text of the page is quoted, in one place, so that the model cannot take it
 * for the service's own words.
 */
export function notedOf(
  untrusted: Record<string, unknown>,
  picked: Record<string, unknown>,
): Record<string, unknown> {
  const { title, description, default: preset, examples, ...rest } = picked;
  const said = { title, description, default: preset, examples };
  const words = WORDS.flatMap((word) => (said[word] === undefined ? [] : [[word, said[word]] as const]));
  const told = TOLD.flatMap((word) =>
    typeof untrusted[word] === "string" ? [[word, untrusted[word]] as const] : [],
  );
  const notes = [...words, ...told];
  if (notes.length === 0) return rest;
  const isOneText = notes.length === 1 && description !== undefined;
  const quoted = isOneText ? description : Object.fromEntries(notes);
  return { ...rest, description: `The page says: ${JSON.stringify(quoted)}` };
}
