// For src/
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "vite";
import { describe, expect, test } from "vitest";
import { isLinearByShape } from "./support/house/linear-pattern.ts";

/**
 * Regular expressions that see what a client, a page, a model, a provider or a receiver sent. A backtracking one can be made
 * to run for hours, so each is linear by its shape (linear-pattern.ts), or stands here with the reason why it is.
 */
/** What reads the words of who runs the service. */
const LEFT_OUT = new Set(["cli", "config", "config.ts", "installation", "replay", "start"]);

/** Patterns that are made of text, by file. */
const MADE_OF_TEXT: Record<string, string> = {
  "src/demo/model/invent-arguments.ts":
    "a property's name without what is neither letter nor digit, over a result of 4,000 characters",
  "src/models/refusals/sentences.ts":
    "sentences of a table, anchored, with slots of bounded length, over at most 8,000 characters; models/learn tries each on long ones",
};

const PROVEN: Record<string, string> = {
  [String.raw`/^[\w.-]+(:\d+)?$|^\[[\da-f:.]+\](:\d+)?$/i`]:
    "anchored, and what repeats ends at a colon or a bracket that it does not take itself",
  [String.raw`/^bearer +([^\s,]+)$/i`]: "anchored, and what follows the spaces is none",
  [String.raw`/^Max open files\s+(\d+)/m`]: "of the kernel's own file, not of a client",
  [String.raw`/:(\w+)/g`]: "of the service's own paths; nothing stands behind the repeated word",
  [String.raw`/^_+|(?<!_)_+$/g`]:
    "of at most 55 characters, and begins only where no underscore stands before",
  [String.raw`/"(authorization|apiKey|secretKey|visitorToken|password|x-visitor-token)":"(?:[^"\\]|\\.)*"/g`]:
    "no character begins both of its choices, and each text ends at the quote with which the next one could begin",
  [String.raw`/:\/\/[^\s"'\\/@]+@/g`]: "what repeats takes no slash: the next one begins where it ends",
  [String.raw`/\b(?:[si]k[_-]|op_)[A-Za-z0-9_-]{6,}/g`]: "nothing stands behind what repeats",
  [String.raw`/\bbearer\s+[^\s"'\\]+/gi`]: "what follows the spaces is none, and behind that stands nothing",
  [String.raw`/^(?<name>\w+):\{(?<plane>[ctg]):?(?<tag>[^}]*)\}(?::(?<id>.*))?$/su`]:
    "anchored, and what repeats ends at a colon or a brace that it does not take itself; of the store's own keys",
  [String.raw`/"createdAtMs":(\d+)/`]: "nothing stands behind the digits",
  [String.raw`/^used_memory:(\d+)/m`]: "of Redis' own words; nothing stands behind the digits",
  [String.raw`/(?<!\/)\/+$/`]:
    "of an address that the page's owner writes; it begins only where no slash stands before",
  [String.raw`/#\d+$/`]: "what repeats takes no #: each run of digits is read once",
  [String.raw`/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi`]:
    "what repeats takes no &: the next one begins where it ends",
  [String.raw`/<style>[^<]*<\/style>\n/`]: "of the service's own picture",
  [String.raw`/^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/`]: "anchored, and what repeats takes no dot",
  [String.raw`/(add|put).*(cart|basket|bag)/`]: "of a tool's name, of at most 64 characters",
  [String.raw`/(fill|enter|set).*(address|form)|address_form/`]: "of a tool's name, of at most 64 characters",
  [String.raw`/#?\b([a-z]{0,4}-?\d[\w-]*)/i`]: "nothing stands behind what repeats",
  [String.raw`/["“„«]([^"“”„«»]+)["”“»]/`]: "what repeats takes no quote: the next one begins where it ends",
  [String.raw`/\d+(\.\d+)?/`]: "a digit is enough; nothing stands behind what repeats",
  [String.raw`/^data:(image\/[a-z]+);base64,(.*)$/s`]:
    "anchored, and the first that repeats ends at a semicolon",
  ["/^<(?:([a-z][a-z\\d+.-]{1,31}:[^\\s<>]*)|([\\w.!#$%&'*+/=?^`{|}~-]+@[a-z\\d.-]+))>/i"]:
    "anchored, of at most 1,000 characters; what repeats ends at a character that it does not take itself",
  ["/^<(?:\\/[a-z][a-z\\d-]*\\s*|[a-z][a-z\\d-]*(?:\\s+[a-z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s\"'=<>`]+|'[^']*'|\"[^\"]*\"))?)*\\s*\\/?|!--[^>]*--|\\?[^>]*\\?|![a-z][^>]*)>/i"]:
    "anchored, of at most 1,000 characters, and ends at the next <: each character is in few of these texts",
  [String.raw`/\n[ \t]*/`]: "of at most 100 characters; nothing stands behind what repeats",
  [String.raw`/[ \t]*\n?[ \t]*/y`]:
    "sticky, and all of it may be missing: nothing behind what repeats makes it fail",
  [String.raw`/<((?:[^<>\\\n]|\\[^\n])*)>/y`]:
    "sticky, of at most 4,096 characters; no character begins both of its choices",
  [String.raw`/"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\((?:[^()\\]|\\[^])*\)/y`]:
    "sticky, of at most 1,000 characters; no character begins both of its choices",
  [String.raw`/\[((?:[^[\]\\]|\\[^])*)\]/y`]:
    "sticky, of at most 1,001 characters; no character begins both of its choices",
  [String.raw`/(?:(?:https?|ftp):\/\/(?=[\p{L}\p{N}[])|www\.(?=[a-z\d]))[^\s<\]]+/iuy`]:
    "sticky; nothing stands behind what repeats",
};

interface Found {
  file: string;
  pattern: string;
  source: string;
  flags: string;
}

function found(): Found[] {
  return sources().flatMap((file) => {
    const patterns: Found[] = [];
    const walk = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      if ("regex" in node && typeof node.regex === "object" && node.regex !== null) {
        const { pattern: source, flags } = node.regex as { pattern: string; flags: string };
        patterns.push({ file, pattern: `/${source}/${flags}`, source, flags });
      } else if (isMade(node) && !Object.hasOwn(MADE_OF_TEXT, file)) {
        throw new Error(`${file} makes a regular expression of text`);
      }
      for (const part of Object.values(node)) walk(part);
    };
    walk(parseAst(readFileSync(file, "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" }));
    return patterns;
  });
}

function sources(): string[] {
  return readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.d)\.tsx?$/.test(file) && !LEFT_OUT.has(file.split("/")[0] ?? ""))
    .map((file) => join("src", file));
}

/** `RegExp(…)`, `new RegExp(…)`, `globalThis.RegExp(…)`. */
function isMade(node: object): boolean {
  if (!("type" in node) || !/^(?:New|Call)Expression$/.test(String(node.type)) || !("callee" in node))
    return false;
  const callee = node.callee as { name?: string; property?: { name?: string } };
  return callee.name === "RegExp" || callee.property?.name === "RegExp";
}

describe("regular expressions that see what a client sent", () => {
  const all = found();

  test("are found", () => {
    expect(all.length).toBeGreaterThan(150);
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
  test.each(all.filter(({ pattern }) => Object.hasOwn(PROVEN, pattern) && !isShort(pattern)))(
    "$file $pattern ends with long inputs that almost match",
    ({ source, flags }) => {
      const pattern = new RegExp(source, flags.replace(/[gy]/g, ""));
      for (const input of LONG) expect(pattern.test(input)).toBeTypeOf("boolean");
    },
  );
});

/** Of what is bounded, and so never long. */
const isShort = (pattern: string): boolean => /^of (?:a tool's name|at most 55)/.test(PROVEN[pattern] ?? "");

const PIECES = [
  "a",
  "_",
  "1",
  " ",
  ":",
  ".",
  "[",
  '"',
  "\\u",
  "/",
  "#1",
  "&a",
  "://a",
  "charset=",
  "bearer ",
  "sk_",
];
const STARTS = ["", "bearer ", "charset", "[", "pk_", "$a", "vt_a_", '"password":"', "data:image/", "a:{c:"];
const LONG = STARTS.flatMap((start) => PIECES.map((piece) => `${start}${piece.repeat(30_000)}\u0000`));

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
