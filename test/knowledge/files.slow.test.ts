// For src/knowledge/fetch/files.ts
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readFiles } from "../../src/knowledge/fetch/files.ts";
import type { FileSource } from "../../src/knowledge/fetch/files.ts";
import { readPage } from "../../src/knowledge/read/kinds.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

function open() {
  const folder = temporaryFolder();
  const hashes = new Map<string, { hash: string }>();
  const write = (name: string, text: string | Buffer) => {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  async function read(source: FileSource = { folder }): Promise<Record<string, string>> {
    const told: Record<string, string> = {};
    const reading = {
      reader: { read: readPage },
      known: (url: string) => hashes.get(url),
      signal: new AbortController().signal,
    };
    for await (const one of readFiles(source, reading)) {
      if (one.type === "read") hashes.set(one.url, one.known);
      told[one.url] =
        one.type === "read"
          ? (one.page.sections[0]?.text ?? "")
          : one.type === "unchanged"
            ? one.type
            : `${one.type}: ${one.why}`;
    }
    return told;
  }
  return { folder, write, read };
}

test("a folder is read with all below it, by the endings of its files, and again only what has changed", async () => {
  const { folder, write, read } = open();
  write("b.md", "# B\n\nBe kind.");
  write("a.txt", "A.");
  write("deep/er/c.html", "<p>C</p>");
  write("picture.png", "PNG");
  write(".hidden/d.md", "D");
  write(".e.md", "E");
  symlinkSync("/etc/hostname", join(folder, "link.txt"));
  expect(await read()).toEqual({ "a.txt": "A.", "b.md": "Be kind.", "deep/er/c.html": "C" });
  write("b.md", "# B\n\nBe kinder.");
  expect(await read()).toEqual({ "a.txt": "unchanged", "b.md": "Be kinder.", "deep/er/c.html": "unchanged" });
  rmSync(join(folder, "a.txt"));
  expect(Object.keys(await read())).toEqual(["b.md", "deep/er/c.html"]);
  expect(Object.keys(await read({ folder, exclude: ["/deep/*"] }))).toEqual(["b.md"]);
});

test("what cannot be read is told, and the others are read", async () => {
  const { write, read } = open();
  write("a.pdf", "no PDF");
  write("b.txt", Buffer.alloc(16 * 1_048_576 + 1, "x"));
  write("c.txt", "C");
  expect(await read()).toEqual({
    "a.pdf": "failed: it is no PDF, or is protected by a password",
    "b.txt": "failed: it has more than 16777216 bytes",
    "c.txt": "C",
  });
});

test("a file is read by itself; a source that is not there is an error", async () => {
  const { folder, write, read } = open();
  write("rules.md", "Be kind.");
  write("rules.exe", "no");
  expect(await read({ file: join(folder, "rules.md") })).toEqual({ "rules.md": "Be kind." });
  expect(await read({ file: join(folder, "rules.exe") })).toEqual({
    "rules.exe": "gone: it is of no kind that can be read",
  });
  await expect(read({ file: join(folder, "none.md") })).rejects.toThrow("ENOENT");
  await expect(read({ folder: join(folder, "none") })).rejects.toThrow("ENOENT");
});
