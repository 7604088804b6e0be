// For src/knowledge/read/document-text.ts, src/knowledge/document-texts.ts
import { expect, onTestFinished, test } from "vitest";
import { createDocumentTexts } from "../../src/knowledge/document-texts.ts";
import { docxOf, pdfOf } from "./documents.ts";

test("what a document says is its headings and its text; one that cannot be read says nothing, and the next one is read", async () => {
  const texts = createDocumentTexts();
  onTestFinished(() => texts.stop());
  expect(await texts.read("pdf", pdfOf("Returns within 30 days", "Our rules"))).toBe(
    "Our rules\n\nPage 1\n\nReturns within 30 days",
  );
  const body = "<w:p><w:r><w:t>Two days</w:t></w:r></w:p>";
  expect(await texts.read("docx", await docxOf(body))).toBe("Two days");
  expect(await texts.read("pdf", new TextEncoder().encode("%PDF-1.4 and then nothing"))).toBeNull();
  expect(await texts.read("docx", await docxOf(body))).toBe("Two days");
});

test("nothing is begun, and nothing is to be stopped, where no document comes", async () => {
  await expect(createDocumentTexts().stop()).resolves.toBeUndefined();
});
