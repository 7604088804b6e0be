/** What a `$ref` into the schema itself names, by a JSON pointer (`#/properties/address`); undefined for any other. */
export function referred(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let found = root;
  for (const step of reference.slice(2).split("/")) {
    if (typeof found !== "object" || found === null) return undefined;
    const name = unescaped(step);
    found = Object.entries(found).find(([own]) => own === name)?.[1];
  }
  return found;
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return step;
  }
}
