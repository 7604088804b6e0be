#!/usr/bin/env node
import { whyNotRunnable } from "./runnable.ts";

// The rest is loaded after this check: on a Node that is too old, or from half a build, loading itself fails.
const why = await whyNotRunnable();
if (why === null) {
  const [{ runProgram }, { processTerminal }] = await Promise.all([
    import("./program.ts"),
    import("./command/terminal.ts"),
  ]);
  process.exitCode = await runProgram(process.argv.slice(2), processTerminal());
} else {
  process.stderr.write(`Cannot run: ${why}\n`);
  process.exitCode = 1;
}
