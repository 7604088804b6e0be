import { EventEmitter } from "node:events";
import type { Readable } from "node:stream";
import { codeOf } from "../../errors.ts";

/** The streams of a command: the process's own, or a test's. */
export interface Terminal {
  env: NodeJS.ProcessEnv | undefined;
  input: Readable & { isTTY?: boolean };
  /** Results. */
  out(text: string): void;
  /** For people only: progress, hints, errors. */
  err(text: string): void;
  /** True: a person reads the results, so there are colours and prompts. */
  interactive: boolean;
  /** True: a person reads stderr, so progress is shown there. */
  watched: boolean;
  /** The terminal's width; undefined if lines are not broken. */
  columns?: () => number;
  /** Calls back on Ctrl-C instead of ending the process; returns a function that stops this. */
  onInterrupt(callback: () => void): () => void;
}

export function processTerminal(): Terminal {
  // Whoever reads has enough: `… list | head`. Nothing more is written, and what follows something ends as with Ctrl-C.
  const closed = new EventEmitter();
  process.stdout.on("error", (error) => {
    if (codeOf(error) !== "EPIPE") throw error;
    closed.emit("closed");
  });
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
      closed.on("closed", callback);
      return () => {
        process.off("SIGINT", callback);
        closed.off("closed", callback);
      };
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
