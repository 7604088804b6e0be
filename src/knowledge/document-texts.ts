import type { ReadDocument } from "../domain/threads/files.ts";
import type { DocumentText } from "./read/document-text.ts";

/** What documents say that came as files. What reads them is loaded with the first one. */
export interface DocumentTexts {
  read: ReadDocument;
  stop(): Promise<void>;
}

export function createDocumentTexts(): DocumentTexts {
  let reading: Promise<DocumentText> | null = null;

  return {
    async read(kind, bytes) {
      reading ??= import("./read/document-text.ts").then(({ createDocumentText }) => createDocumentText());
      return (await reading)(kind, bytes);
    },

    stop: async () => (await reading)?.close(),
  };
}
