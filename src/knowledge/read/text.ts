import { createOutline, paragraphsOf } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** Plain text: paragraphs between empty lines. */
export function readText(text: string): ReadPage {
  const outline = createOutline();
  for (const paragraph of paragraphsOf(text)) outline.block(paragraph);
  return { title: "", sections: outline.sections() };
}
