import mammoth from "mammoth";
import { readFragment } from "./html.ts";
import { UnreadablePage } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** The text of a Word document (DOCX), by its headings. */
export async function readDocx(bytes: Uint8Array): Promise<ReadPage> {
  const buffer = Buffer.from(bytes);
  const convertImage = mammoth.images.imgElement(() => Promise.resolve({ src: "" }));
  const { value } = await mammoth.convertToHtml({ buffer }, { convertImage }).catch((error: unknown) => {
    throw new UnreadablePage("it is no Word document (DOCX)", { cause: error });
  });
  return readFragment(value);
}
