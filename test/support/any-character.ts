import fc from "fast-check";

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character, for `fc.string({ unit: anyCharacter })`. fast-check's own `unit: "binary"` is the same, but lists the
 * million of them first, in each process: a second.
 */
export const anyCharacter = fc.nat(0x10ffff - SURROGATES).map(characterAt, placeOf);

function characterAt(place: number): string {
  return String.fromCodePoint(place < FIRST_SURROGATE ? place : place + SURROGATES);
}

/** With this fast-check also tries the strings that it knows to be dangerous, such as `__proto__`. */
function placeOf(value: unknown): number {
  const code = typeof value === "string" ? value.codePointAt(0) : undefined;
  const place = code === undefined || code < FIRST_SURROGATE ? code : code - SURROGATES;
  if (place === undefined || characterAt(place) !== value) {
    throw new Error(`Cannot place ${JSON.stringify(value)}: it is not one character`);
  }
  return place;
}
