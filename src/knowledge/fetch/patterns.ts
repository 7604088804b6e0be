/**
 * `include` and `exclude` of a source: paths with `*` for any characters, from the beginning to the end: `/help/*`, `*.pdf`. No
 * regular expression, so that none can take long.
 */
export function fitsPattern(path: string, pattern: string): boolean {
  const parts = pattern.split("*");
  const [first = ""] = parts;
  const last = parts.at(-1) ?? "";
  if (parts.length === 1) return path === pattern;
  if (!path.startsWith(first) || path.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}

/** Without `include` everything is in; what `exclude` fits is not. */
export function isWanted(
  path: string,
  { include, exclude = [] }: { include?: string[]; exclude?: string[] },
): boolean {
  if (exclude.some((pattern) => fitsPattern(path, pattern))) return false;
  return include === undefined || include.some((pattern) => fitsPattern(path, pattern));
}
