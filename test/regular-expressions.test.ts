import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { analyse } from "scslre";
import { parseAst } from "vite";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Made from words of the product's own, each escaped: no text of a client becomes a pattern. */
const MADE_AT_RUN_TIME = ["src/demo/model/invent-arguments.ts"];

/**
 * An expression that goes back over what it has read can take quadratic time, or worse, on a text made for it: once a
 * header of 15,000 spaces cost 92 ms. scslre finds those that can.
 */
test("every regular expression of what runs is done in linear time", () => {
  const files = ["src", "machines"].flatMap(scriptsIn);
  const literals = files.flatMap((file) => patternsIn(file).map((literal) => ({ file, ...literal })));

  expect(literals.length).toBeGreaterThan(100);
  const slow = literals.filter((literal) => isSlow(literal));
  expect(slow.map(({ file, pattern, flags }) => `${file}: /${pattern}/${flags}`)).toEqual([]);
  expect(files.filter((file) => /\bRegExp\(/.test(textOf(file)))).toEqual(MADE_AT_RUN_TIME);
});

test("an expression that is not is found", () => {
  expect(isSlow({ pattern: String.raw`^json\s*(;\s*)?\s*$`, flags: "i" })).toBe(true);
  expect(isSlow({ pattern: String.raw`^json\s*$`, flags: "i" })).toBe(false);
});

interface Literal {
  pattern: string;
  flags: string;
}

function isSlow({ pattern, flags }: Literal): boolean {
  return analyse({ source: pattern, flags }).reports.length > 0;
}

function scriptsIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|mjs)$/.test(name))
    .map((name) => join(folder, name));
}

function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function patternsIn(file: string): Literal[] {
  const found: Literal[] = [];
  JSON.stringify(
    parseAst(textOf(file), { lang: file.endsWith("x") ? "tsx" : "ts" }),
    (key, value: unknown) => {
      if (key === "regex" && isLiteral(value)) found.push(value);
      return value;
    },
  );
  return found;
}

function isLiteral(value: unknown): value is Literal {
  return typeof value === "object" && value !== null && "pattern" in value && "flags" in value;
}
