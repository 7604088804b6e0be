import type { ReadPage } from "./read/page.ts";

/** A piece of a page that answers a question by itself: the unit that is found, shown and cited. */
export interface Passage {
  /** The page's title, or else its first heading, or else empty. */
  title: string;
  /** The headings above it, the outermost first, joined by ` › `; may be empty. */
  heading: string;
  /** At most PASSAGE_CHARS characters. */
  text: string;
}

/** UTF-16 units: some 300 tokens, so that six of them leave a model room for the rest. */
export const PASSAGE_CHARS = 1_200;

/** A page in passages, in its order: a section is one, or several if it is long. */
export function passagesOf({ title, sections }: ReadPage): Passage[] {
  const named = title === "" ? (sections[0]?.headings[0] ?? "") : title;
  return sections.flatMap(({ headings, text }) =>
    piecesOf(text).map((piece) => ({ title: named, heading: headings.join(" › "), text: piece })),
  );
}

/** Cut between lines, or else between sentences, or else between words. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const part of text.split("\n").flatMap(shortParts)) {
    if (piece !== "" && piece.length + part.length + 1 > PASSAGE_CHARS) {
      pieces.push(piece);
      piece = "";
    }
    piece = piece === "" ? part : `${piece}\n${part}`;
  }
  if (piece !== "") pieces.push(piece);
  return pieces;
}

/** Parts of a line that are not longer than a passage. */
function shortParts(line: string): string[] {
  if (line.length <= PASSAGE_CHARS) return [line];
  const parts: string[] = [];
  let rest = line;
  while (rest.length > PASSAGE_CHARS) {
    const room = rest.slice(0, PASSAGE_CHARS);
    const end = Math.max(
      room.lastIndexOf(". "),
      room.lastIndexOf("? "),
      room.lastIndexOf("! "),
      room.lastIndexOf("。"),
    );
    const cut = end > PASSAGE_CHARS / 2 ? end + 1 : Math.max(room.lastIndexOf(" "), 0) || wholeUnits(room);
    parts.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return rest === "" ? parts : [...parts, rest];
}

/** Not between the two halves of a character. */
function wholeUnits(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? text.length - 1 : text.length;
}
