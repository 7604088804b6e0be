import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vite";
import { describe, expect, test } from "vitest";
import { isLinearByShape } from "./support/linear-pattern.ts";

/**
 * Regular expressions that see what a client sent. A backtracking one can be made to run for hours, so each is linear by
 * its shape (linear-pattern.ts), or stands here with the reason why it is.
 */
const FOLDERS = ["http", "domain", "admission", "listeners", "operators", "actors", "agent"];

const PROVEN: Record<string, string> = {
  [String.raw`/^charset\s*=\s*"?utf-8"?$/i`]:
    "anchored, and no space is an equals sign or a quote: each run of spaces ends at one place; of a header of at most 16 KB",
  [String.raw`/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i`]:
    "anchored, and what repeats ends at a colon or a bracket that it does not take itself",
  [String.raw`/^bearer +([^\s,]+)$/i`]: "anchored, and what follows the spaces is none",
  [String.raw`/^Max open files\s+(\d+)/m`]: "of the kernel's own file, not of a client",
  [String.raw`/:(\w+)/g`]: "of the service's own paths; nothing stands behind the repeated word",
  [String.raw`/^_+|(?<!_)_+$/g`]:
    "of at most 55 characters, and begins only where no underscore stands before",
};

interface Found {
  file: string;
  pattern: string;
  source: string;
  flags: string;
}

function found(): Found[] {
  return FOLDERS.flatMap(filesIn).flatMap((file) => {
    const patterns: Found[] = [];
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      if ("regex" in node && typeof node.regex === "object" && node.regex !== null) {
        const { pattern: source, flags } = node.regex as { pattern: string; flags: string };
        patterns.push({ file, pattern: `/${source}/${flags}`, source, flags });
      } else if ("type" in node && /^(?:New|Call)Expression$/.test(String(node.type)) && isRegExp(node)) {
        throw new Error(`${file} makes a regular expression of text`);
      }
      for (const part of Object.values(node)) walk(part);
    };
    walk(parseAst(readFileSync(file, "utf8"), { lang: "ts" }));
    return patterns;
  });
}

function filesIn(folder: string): string[] {
  return readdirSync(join("src", folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join("src", folder, file));
}

const isRegExp = (node: object): boolean =>
  "callee" in node && JSON.stringify(node.callee).includes('"name":"RegExp"');

describe("regular expressions that see what a client sent", () => {
  const all = found();

  test("are found", () => {
    expect(all.length).toBeGreaterThan(40);
  });

  test("are linear by their shape, or by a reason that is written down", () => {
    const unproven = all.filter(
      ({ source, flags, pattern }) => !isLinearByShape(source, flags) && !Object.hasOwn(PROVEN, pattern),
    );
    expect(unproven.map(({ file, pattern }) => `${file} ${pattern}`)).toEqual([]);
  });

  test("have no reason written down that nobody needs", () => {
    const needed = all.filter(({ source, flags }) => !isLinearByShape(source, flags));
    expect(Object.keys(PROVEN).sort()).toEqual([...new Set(needed.map(({ pattern }) => pattern))].sort());
  });

  // One that is not linear does not come to its end here.
  test.each(all)("$file $pattern ends with long inputs that almost match", ({ source, flags }) => {
    const pattern = new RegExp(source, flags.replace(/[gy]/g, ""));
    const whole = [
      "a",
      "_",
      "1",
      " ",
      ":",
      ".",
      "[",
      '"',
      "\\u",
      "charset=",
      "bearer ",
      "sk_",
      "Max open files",
    ];
    for (const piece of whole) {
      for (const start of ["", "bearer ", "charset", "[", "pk_", "$a", "vt_a_"]) {
        pattern.test(`${start}${piece.repeat(30_000)}\u0000`);
      }
    }
  });
});

describe("isLinearByShape()", () => {
  test.each([
    [/^(a+)+$/, false],
    [/^(a|a)*$/, false],
    [/^(?:[-_]b{1,8}){0,5}$/, true],
    [/^(a|b){3}$/, true],
    [/a+$/, false],
    [/^a*a*$/, false],
    [/^(a{1,8}b?){2,}$/, false],
    [/^[a-z]{1,64}$/, true],
    [/^x[^"]*"$/, true],
    [/^a+|b+c/, false],
    [/[ab]+/g, true],
    [/^a+b/m, false],
  ])("%s: %s", (pattern, isLinear) => {
    expect(isLinearByShape(pattern.source, pattern.flags)).toBe(isLinear);
  });
});
