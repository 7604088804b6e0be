/** An address in the text without brackets (GFM, Autolinks). */
export interface PlainAddress {
  raw: string;
  href: string;
}

/** Up to a bracket, too: it may end the text of a link. */
const WEB = /(?:(?:https?|ftp):\/\/(?=[\p{L}\p{N}[])|www\.(?=[a-z\d]))[^\s<\]]+/iuy;
/** The bounds are those of RFC 5321: without them each word would be searched to its end for an @. */
const MAIL = /[\w.+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8}(?![\w-])/iy;
const TRAILING = /[?!.,:;*_~'"。，、！？：；）」』】》]/;
const ENTITY = /&[a-z\d]{1,31};$/i;

/** The address that begins here, whose end is no punctuation of its sentence; null: none. */
export function addressAt(text: string, at: number): PlainAddress | null {
  WEB.lastIndex = at;
  const web = WEB.exec(text)?.[0];
  if (web !== undefined) {
    const raw = withoutPunctuation(web);
    return { raw, href: /^www\./i.test(raw) ? `http://${raw}` : raw };
  }
  if (/[\w.+-]/.test(text[at - 1] ?? "")) return null;
  MAIL.lastIndex = at;
  const raw = MAIL.exec(text)?.[0];
  return raw === undefined ? null : { raw, href: `mailto:${raw}` };
}

function withoutPunctuation(address: string): string {
  let open = 0;
  for (const letter of address) open += letter === "(" ? 1 : letter === ")" ? -1 : 0;
  let end = address.length;
  for (; ; end -= 1) {
    const last = address[end - 1] ?? "";
    const entity = last === ";" ? ENTITY.exec(address.slice(Math.max(0, end - 33), end))?.[0] : undefined;
    if (entity !== undefined) end -= entity.length - 1;
    else if (last === ")" && open < 0) open += 1;
    else if (!TRAILING.test(last)) return address.slice(0, end);
  }
}
