import { writeSync } from "node:fs";
import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";
import { cutText } from "../machines/line.ts";
import type { LogLevel } from "./config.ts";
import { codeOf, messageOf } from "./errors.ts";
import type { Secret } from "./secret.ts";

/**
 * The log: JSON lines on stdout, pretty-printed if stdout is a terminal. No line contains a secret (P15): secrets are
 * replaced in the finished line, wherever they are, because a library's error may quote its input. No text of somebody else
 * makes a line of its own, or a long one: control characters are written as escapes, and what is long is cut.
 */
export type Log = Logger;

/** The log as most of the code uses it: fields first, then the text. */
export interface PlainLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

export interface LogOptions {
  level: LogLevel;
  /** Their values never appear in a line. */
  secrets: readonly Secret[];
  /** The number of this process among several; part of each line. */
  process?: number;
  /** Where lines go; absent: stdout. */
  destination?: DestinationStream;
}

/**
 * Patterns of credentials: fields of these names, bearer headers, keys with our prefixes, passwords in addresses. Fields too
 * are replaced in the finished line: pino's own redaction would cost every line 20 µs.
 */
const SHAPES: readonly [RegExp, string][] = [
  [
    /"(authorization|apiKey|secretKey|visitorToken|password|x-visitor-token)":"(?:[^"\\]|\\.)*"/g,
    '"$1":"[secret]"',
  ],
  [/\bbearer\s+[^\s"'\\]+/gi, "Bearer [secret]"],
  [/\b(?:[si]k[_-]|op_)[A-Za-z0-9_-]{6,}/g, "[secret]"],
  [/:\/\/[^\s"'\\/@]+@/g, "://[secret]@"],
];

/** A shorter secret is not replaced: it would match other text. */
const SHORTEST_SOUGHT = 6;

/**
 * Opens the log. Loads the pretty printer only if stdout is a terminal. `onLost`: called for each line that could not be
 * written; the first is told on stderr.
 */
export async function openLog(options: LogOptions & { onLost?: () => void }): Promise<Log> {
  const { onLost = () => {} } = options;
  return createLog({ ...options, destination: options.destination ?? (await standardOutput(onLost)) });
}

export function createLog(options: LogOptions & { destination: DestinationStream }): Log {
  const hide = createHider(options.secrets);
  return pino(
    {
      level: options.level,
      base: options.process === undefined ? null : { process: options.process },
      hooks: { streamWrite: (line) => withoutControls(shortLine(hide(line))) },
    },
    options.destination,
  );
}

/** A line is cut only beyond this; no line of ours is half as long. */
const LINE_CHARS = 16_384;
/** Of each text in a line that is cut, of each list, and how deep objects are shown. */
const TEXT_CHARS = 2_000;
const ITEMS = 20;
const DEPTH = 6;

/** The same line, with what is long in it cut. */
function shortLine(line: string): string {
  return line.length <= LINE_CHARS ? line : `${JSON.stringify(shortened(JSON.parse(line), DEPTH))}\n`;
}

function shortened(value: unknown, depth: number): unknown {
  if (typeof value === "string") return shortText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "[cut]";
  if (Array.isArray(value)) return value.slice(0, ITEMS).map((item) => shortened(item, depth - 1));
  const fields = Object.entries(value).slice(0, ITEMS);
  return Object.fromEntries(fields.map(([name, item]) => [shortText(name), shortened(item, depth - 1)]));
}

function shortText(text: string): string {
  return text.length <= TEXT_CHARS ? text : `${cutText(text, TEXT_CHARS)}… [cut: ${text.length} characters]`;
}

/**
 * In JSON: a line break that begins no frame of a stack, every other control character, and what turns the direction of text
 * or breaks lines without being one of them. A terminal would obey them: a forged line, a hidden one.
 */
const CONTROLS =
  /\\(n(?! {4}at |caused by: )|[bfr]|u00[01][0-9a-f])|\\.|([\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff])/g;

/** Writes them as escapes that a reader of JSON sees as such: a line break as a backslash and an n. */
function withoutControls(line: string): string {
  return line.replace(CONTROLS, (found, escape?: string, raw?: string) => {
    if (raw !== undefined) return `\\\\u${raw.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return escape === undefined ? found : `\\\\${escape}`;
  });
}

/** Returns a function that replaces secrets in any text, for output other than the log. */
export function createHider(secrets: readonly Secret[]): (text: string) => string {
  const sought = secrets
    .flatMap((secret) => {
      const value = secret.reveal();
      // As it stands, as JSON writes it, and as an address carries it.
      return [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
    })
    .filter((value) => value.length >= SHORTEST_SOUGHT)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let hidden = text;
    for (const value of sought) hidden = hidden.replaceAll(value, "[secret]");
    for (const [shape, instead] of SHAPES) hidden = hidden.replace(shape, instead);
    return hidden;
  };
}

async function standardOutput(onLost: () => void): Promise<DestinationStream> {
  if (!process.stdout.isTTY) return openLines(1, onLost);
  const { PinoPretty } = await import("pino-pretty");
  return PinoPretty({ colorize: true, sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
}

/** How long to wait for a reader that takes nothing (a pipe that is full). */
const FULL_PIPE_MS = 10;
const nothing = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines to an open file, at once. A full disk ends no process: a line that cannot be written is lost, and the first one is
 * told. pino's own destination keeps such lines for ever, or throws.
 */
export function openLines(file: number, onLost: () => void, tell = tellOnStderr): DestinationStream {
  let isTold = false;
  /** The last line was written in part: the next one must not continue it. */
  let isCut = false;

  function writeAll(bytes: Buffer): void {
    for (let written = 0; written < bytes.length;) {
      try {
        written += writeSync(file, bytes, written);
        isCut = written < bytes.length;
      } catch (error) {
        if (codeOf(error) !== "EAGAIN") throw error;
        Atomics.wait(nothing, 0, 0, FULL_PIPE_MS);
      }
    }
  }

  return {
    write(line) {
      try {
        writeAll(Buffer.from(isCut ? `\n${line}` : line));
      } catch (error) {
        onLost();
        if (!isTold)
          tell(`Cannot write the log: ${messageOf(error)}. Lines are lost until it can be written\n`);
        isTold = true;
      }
    },
  };
}

function tellOnStderr(text: string): void {
  process.stderr.write(text);
}
