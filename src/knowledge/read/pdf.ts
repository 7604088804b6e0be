import { extractText, getDocumentProxy, getMeta } from "unpdf";
import { createOutline, oneLine, paragraphsOf, UnreadablePage } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** The text of a PDF, page by page; one that is only pictures has none. */
export async function readPdf(bytes: Uint8Array): Promise<ReadPage> {
  const document = await getDocumentProxy(new Uint8Array(bytes)).catch((error: unknown) => {
    throw new UnreadablePage("it is no PDF, or is protected by a password", { cause: error });
  });
  const { info } = await getMeta(document);
  const { text } = await extractText(document, { mergePages: false });
  const outline = createOutline();
  for (const [nth, page] of text.entries()) {
    outline.heading(2, `Page ${nth + 1}`);
    for (const paragraph of paragraphsOf(page)) outline.block(paragraph);
  }
  const title: unknown = info["Title"];
  return { title: typeof title === "string" ? oneLine(title) : "", sections: outline.sections() };
}
