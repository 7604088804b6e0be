import type { Readable } from "node:stream";

/** Where a command reads and writes: the process's own streams, or a test's. */
export interface Terminal {
  env: NodeJS.ProcessEnv | undefined;
  input: Readable & { isTTY?: boolean };
  /** Results. */
  out(text: string): void;
  /** For people only: progress, hints, complaints. */
  err(text: string): void;
  /** True: a person reads the results, so there are colours and prompts. */
  interactive: boolean;
  /** True: a person reads the errors, so that they may be told how far a long command is. */
  watched: boolean;
  /** How wide the results are shown; undefined where nobody breaks them. */
  columns?: () => number;
  /** Calls back on Ctrl-C instead of ending the process; returns how to stop. */
  onInterrupt(callback: () => void): () => void;
}

export function processTerminal(): Terminal {
  return {
    env: undefined,
    input: process.stdin,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    interactive: process.stdout.isTTY,
    watched: process.stderr.isTTY,
    ...(process.stdout.isTTY ? { columns: () => process.stdout.columns } : {}),
    onInterrupt(callback) {
      process.on("SIGINT", callback);
      return () => process.off("SIGINT", callback);
    },
  };
}

/** The command is right but cannot be done: one line on stderr, exit code 1. */
export class CannotDo extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "CannotDo";
  }
}

/** Text of users and models without characters that control a terminal; line ends and tabs stay. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\u{fffd}");
}
