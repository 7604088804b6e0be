// For src/knowledge/read/reader.ts, src/knowledge/read/read-worker.ts, src/knowledge/read/kinds.ts
import { expect, onTestFinished, test } from "vitest";
import { kindOf } from "../../src/knowledge/read/kinds.ts";
import { createReader } from "../../src/knowledge/read/reader.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const url = "https://x.example/";

function open(options: Parameters<typeof createReader>[0] = {}) {
  const reader = createReader(options);
  onTestFinished(() => reader.close());
  return reader;
}

test("pages are read in a thread of their own, in the order in which they came", async () => {
  const reader = open();
  const read = await Promise.all([
    reader.read({ kind: "markdown", bytes: bytes("# One\n\nText."), url }),
    reader.read({ kind: "text", bytes: bytes("Two."), url }),
    reader.read({ kind: "html", bytes: bytes("<title>Three</title><p>Text."), url }),
  ]);
  expect(read.map(({ title }) => title)).toEqual(["One", "", "Three"]);
  expect(read.map(({ sections }) => sections[0]?.text)).toEqual(["Text.", "Two.", "Text."]);
});

test("one that takes too long is unreadable, and the next one is read", { timeout: 60_000 }, async () => {
  const reader = open({ timeoutMs: 8_000 });
  const deep = `${"<div>".repeat(40_000)}deep${"</div>".repeat(40_000)}`;
  const reading = reader.read({ kind: "html", bytes: bytes(deep), url });
  const next = reader.read({ kind: "text", bytes: bytes("Next."), url });
  await expect(reading).rejects.toThrow("it takes longer than 8 s to read");
  expect((await next).sections).toEqual([{ headings: [], text: "Next." }]);
});

test("what is none of its kind is unreadable, and says so", async () => {
  const reader = open();
  await expect(reader.read({ kind: "pdf", bytes: bytes("no"), url })).rejects.toThrow("it is no PDF");
  await expect(reader.read({ kind: "docx", bytes: bytes("no"), url })).rejects.toThrow(
    "it is no Word document",
  );
  expect(
    (await reader.read({ kind: "text", bytes: new Uint8Array([0xff, 0xfe, 0x41, 0]), url })).sections[0]
      ?.text,
  ).toBe("A");
});

test.each([
  ["text/html; charset=utf-8", "page", "html"],
  ["TEXT/HTML", "file.pdf", "html"],
  ["text/plain", "rules.md", "markdown"],
  ["text/plain", "rules", "text"],
  ["application/octet-stream", "rules.docx", "docx"],
  ["image/png", "rules.md", null],
  [null, "rules.MD", "markdown"],
  [null, "rules.htm", "html"],
  [null, "rules.exe", null],
  [null, "rules", null],
])("kind: %s of %s is %s", (type, name, kind) => {
  expect(kindOf(type, name)).toBe(kind);
});
