import { pino } from "pino";
import type { DestinationStream, Logger } from "pino";
import type { LogLevel } from "./config.ts";
import type { Secret } from "./secret.ts";

/**
 * The log: JSON lines on stdout, pretty-printed if stdout is a terminal. No line contains a secret (P15): secrets are
 * replaced in the finished line, wherever they are, because a library's error may quote its input.
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

/** Opens the log. Loads the pretty printer only if stdout is a terminal. */
export async function openLog(options: LogOptions): Promise<Log> {
  return createLog({ ...options, destination: options.destination ?? (await standardOutput()) });
}

export function createLog(options: LogOptions & { destination: DestinationStream }): Log {
  const hide = createHider(options.secrets);
  return pino(
    {
      level: options.level,
      base: options.process === undefined ? null : { process: options.process },
      hooks: { streamWrite: hide },
    },
    options.destination,
  );
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

async function standardOutput(): Promise<DestinationStream> {
  if (!process.stdout.isTTY) return pino.destination({ dest: 1, sync: true });
  const { PinoPretty } = await import("pino-pretty");
  return PinoPretty({ colorize: true, sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
}
