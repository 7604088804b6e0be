/** Keywords that are words of the page's, and decide nothing; and two that are told, and not checked. */
const WORDS = ["title", "description", "default", "examples"] as const;
const TOLD = ["pattern", "format"] as const;

/**
 * A schema of a page as the model is shown it: all that the page says in words stands in quotes, in one place, so that none
 * of it can pass for the service's own.
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
