/**
 * Who an element of `Forwarded` names (RFC 7239): the value of its `for`, without quotes. Elements are counted from the right,
 * over all lines of the header: the last proxy wrote the last one. null: there is no such element, or it does not name exactly
 * one client.
 */
export function forwardedFor(header: string, nthFromRight: number): string | null {
  const element = elementFromRight(header, nthFromRight);
  if (element === null) return null;
  const clients = pairsOf(element)
    .map((pair) => pair.trim())
    .filter((pair) => pair.slice(0, 4).toLowerCase() === "for=")
    .map((pair) => unquoted(pair.slice(4)));
  return clients.length === 1 ? (clients[0] ?? null) : null;
}

/**
 * Reads from the right, where the trusted proxies wrote: a quote that a client left open begins on their left, and reaches
 * no further.
 */
function elementFromRight(header: string, nth: number): string | null {
  let isQuoted = false;
  let end = header.length;
  let left = nth;
  for (let at = header.length - 1; at >= 0; at--) {
    if (header[at] === '"' && !(isQuoted && isEscaped(header, at))) isQuoted = !isQuoted;
    if (header[at] !== "," || isQuoted) continue;
    left -= 1;
    if (left === 0) return header.slice(at + 1, end);
    end = at;
  }
  return left === 1 ? header.slice(0, end) : null;
}

/** True after an odd number of backslashes. */
function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text[from - 1] === "\\") from -= 1;
  return (at - from) % 2 === 1;
}

function pairsOf(element: string): string[] {
  const pairs: string[] = [];
  let isQuoted = false;
  let from = 0;
  for (let at = 0; at < element.length; at++) {
    if (element[at] === '"' && !(isQuoted && isEscaped(element, at))) isQuoted = !isQuoted;
    if (element[at] !== ";" || isQuoted) continue;
    pairs.push(element.slice(from, at));
    from = at + 1;
  }
  return [...pairs, element.slice(from)];
}

function unquoted(value: string): string {
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value;
}
