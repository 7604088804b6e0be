import { isUtf8 } from "node:buffer";
import { IMAGE_TYPES } from "./attachments.ts";
import { DOCX } from "./files.ts";
import type { FileType } from "./files.ts";
import { beginsAs } from "./image-data.ts";
import { MAX_PIXELS, pixelsOf } from "./image-dimensions.ts";

/**
 * What the bytes are; null: nothing that is taken. Which kind of text only its name can tell. HTML and the like are plain
 * text, so no browser ever runs what a visitor has sent.
 */
export function fileType(bytes: Buffer, name: string): FileType | null {
  const image = IMAGE_TYPES.find((type) => beginsAs(type, bytes));
  if (image) return pixelsOf(bytes) <= MAX_PIXELS ? image : null;
  // Readers take some bytes before it (ISO 32000-1, annex H, note 13).
  if (bytes.subarray(0, 1_024).includes("%PDF-")) return "application/pdf";
  if (bytes.toString("latin1", 0, 4) === "PK\x03\x04")
    return bytes.includes("word/document.xml") ? DOCX : null;
  if (!isText(bytes)) return null;
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (ending === "csv" || ending === "tsv") return "text/csv";
  return ending === "md" || ending === "markdown" ? "text/markdown" : "text/plain";
}

/** UTF-8 without NUL, or UTF-16 that says so. */
function isText(bytes: Buffer): boolean {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return isUtf8(bytes) && !bytes.includes(0);
}
