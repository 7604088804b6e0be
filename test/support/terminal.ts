import { PassThrough } from "node:stream";
import { runProgram } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/command/terminal.ts";

export interface Ran {
  /** The exit code. */
  code: number;
  out: string;
  err: string;
}

/** A terminal that a test writes to and reads from. */
export interface TestTerminal extends Terminal {
  input: PassThrough;
  written: { out: string; err: string };
  /** Presses Ctrl-C. */
  interrupt(): void;
}

export function openTestTerminal(env: NodeJS.ProcessEnv): TestTerminal {
  const written = { out: "", err: "" };
  const callbacks = new Set<() => void>();
  return {
    env,
    input: new PassThrough(),
    interactive: false,
    watched: false,
    written,
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    onInterrupt(callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    interrupt: () => callbacks.forEach((callback) => callback()),
  };
}

/** Runs one command line in this process, with `input` on its pipe. */
export async function runCommand(env: NodeJS.ProcessEnv, args: readonly string[], input = ""): Promise<Ran> {
  const terminal = openTestTerminal(env);
  terminal.input.end(input);
  const code = await runProgram(args, terminal);
  return { code, ...terminal.written };
}
