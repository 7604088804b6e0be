import { readFileSync, writeFileSync } from "node:fs";

/*
 * Records as JSON that people can read, without losing a byte. Stores keep JSON as text: in the files it stands as
 * JSON, marked. A long text that repeats itself stands once, with the number of its repetitions.
 */

/** What stands in a file for a text. */
type Marked =
  | { $json: object }
  /** JSON after a line of its own. */
  | { $line: string; $json: object }
  | { $repeat: string; $times: number; $then: string };

export function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${written(value)}\n`);
}

export function readJson<T>(path: string): T {
  return read<T>(readFileSync(path, "utf8"));
}

/** One item a line, in a file that no formatter breaks up: a record is one line of a diff. */
export function writeLines(path: string, items: readonly unknown[]): void {
  writeFileSync(path, items.map((item) => `${written(item)}\n`).join(""));
}

export function readLines<T>(path: string): T[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => read<T>(line));
}

function written(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => marked(part));
}

function read<T>(text: string): T {
  return JSON.parse(text, (_, part: unknown) => unmarked(part)) as T;
}

function marked(part: unknown): unknown {
  return typeof part === "string" ? (asJson(part) ?? asRepetition(part) ?? part) : part;
}

function unmarked(part: unknown): unknown {
  if (!isMarked(part)) return part;
  if ("$repeat" in part) return part.$repeat.repeat(part.$times) + part.$then;
  const json = JSON.stringify(part.$json);
  return "$line" in part ? `${part.$line}\n${json}` : json;
}

const MARKS = ["$json", "$line,$json", "$repeat,$times,$then"];

function isMarked(part: unknown): part is Marked {
  return typeof part === "object" && part !== null && MARKS.includes(Object.keys(part).join());
}

function asJson(text: string): Marked | null {
  const whole = objectOf(text);
  if (whole !== null) return { $json: whole };
  const end = text.indexOf("\n");
  const body = end < 0 ? null : objectOf(text.slice(end + 1));
  return body === null ? null : { $line: text.slice(0, end), $json: body };
}

/** An object or a list, where its text is exactly what JSON.stringify makes of it again. */
function objectOf(text: string): object | null {
  if (!/^[{[]/.test(text)) return null;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text && typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const LONG_CHARS = 2_000;
const LONGEST_REPETITION_CHARS = 500;

function asRepetition(text: string): Marked | null {
  if (text.length < LONG_CHARS) return null;
  for (let length = 1; length <= LONGEST_REPETITION_CHARS; length += 1) {
    const $repeat = text.slice(0, length);
    let $times = 1;
    while (text.startsWith($repeat, $times * length)) $times += 1;
    if ($times * length > text.length / 2) return { $repeat, $times, $then: text.slice($times * length) };
  }
  return null;
}
