/** How a long text is told in several messages. */
export interface PartSize {
  mostChars: number;
  lengthOf: (text: string) => number;
}

/**
 * Divides Markdown into messages. A part ends at a paragraph, else at a line, else at a word; a block of code that is cut is
 * closed, and opened again in the next part. Where a part ends depends on no text behind it: so the parts of a reply that is
 * still being written stay as they are, and only the last one grows.
 */
export function partsOf(markdown: string, size: PartSize): string[] {
  const parts: string[] = [];
  let left = markdown.trim();
  while (left !== "") {
    if (size.lengthOf(left) <= size.mostChars) {
      parts.push(left);
      break;
    }
    const end = endOf(left, size);
    const part = left.slice(0, end).trimEnd();
    const fence = openFence(part);
    parts.push(fence === null ? part : `${part}\n${fence.marks}`);
    const rest = left.slice(end);
    left = fence === null ? rest.trimStart() : `${fence.line}\n${rest.replace(/^\n/, "")}`;
  }
  return parts;
}

/** Room for the marks that close a block of code. */
const FENCE_CHARS = 16;

function endOf(text: string, { mostChars, lengthOf }: PartSize): number {
  const fits = (end: number) => lengthOf(text.slice(0, end)) <= mostChars - FENCE_CHARS;
  let [low, high] = [1, Math.min(text.length, mostChars)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  // A part of less than half the room would be a strange end.
  for (const mark of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(mark, low - mark.length);
    if (at > low / 2) return at + mark.length;
  }
  const isHalf = /[\ud800-\udbff]/.test(text[low - 1] ?? "");
  return isHalf && low > 1 ? low - 1 : low;
}

/** The block of code that is open at the end of the text; null: none. */
function openFence(text: string): { marks: string; line: string } | null {
  let open: { marks: string; line: string } | null = null;
  for (const line of text.split("\n")) {
    const marks = fenceOf(line.trimStart());
    if (marks === null) continue;
    if (open === null) open = { marks: marks.slice(0, FENCE_CHARS - 1), line: line.slice(0, 64) };
    else if (marks[0] === open.marks[0] && marks.length >= open.marks.length) open = null;
  }
  return open;
}

/** The marks with which a line opens or closes a block of code; null: it does neither. */
function fenceOf(line: string): string | null {
  const [mark = ""] = line;
  if (mark !== "`" && mark !== "~") return null;
  let count = 1;
  while (line[count] === mark) count++;
  return count < 3 ? null : line.slice(0, count);
}
