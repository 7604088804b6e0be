import { createReader } from "./reader.ts";
import type { Reader } from "./reader.ts";
import { UnreadablePage } from "./page.ts";
import type { ReadPage } from "./page.ts";

/** What a document says, for a model that takes no files: its headings and its text; null: nothing can be read from it. */
export interface DocumentText {
  (kind: "pdf" | "docx", bytes: Uint8Array): Promise<string | null>;
  close(): Promise<void>;
}

/** Reads in a thread of its own, which begins with the first document. */
export function createDocumentText(): DocumentText {
  const reader: Reader = createReader();
  const read = async (kind: "pdf" | "docx", bytes: Uint8Array) => {
    try {
      return textOf(await reader.read({ kind, bytes, url: "https://file.invalid/" }));
    } catch (error) {
      if (error instanceof UnreadablePage) return null;
      throw error;
    }
  };
  return Object.assign(read, { close: () => reader.close() });
}

function textOf({ title, sections }: ReadPage): string | null {
  let last = title;
  const parts = sections.flatMap(({ headings, text }) => {
    const heading = headings.join(" › ");
    const isNew = heading !== "" && heading !== last;
    last = heading;
    return isNew ? [heading, text] : [text];
  });
  const text = [title, ...parts].filter((part) => part !== "").join("\n\n");
  return text === "" ? null : text;
}
