/** undefined: the text is not JSON. */
export function jsonValue(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
