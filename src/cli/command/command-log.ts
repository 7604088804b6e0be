import { secretsOf } from "../../config.ts";
import type { Config } from "../../config.ts";
import { createLog } from "../../log.ts";
import type { Log } from "../../log.ts";
import type { Terminal } from "./terminal.ts";

/** Warnings go to stderr: stdout has only a command's results. */
export function commandLog(terminal: Terminal, config: Config): Log {
  return createLog({
    level: "warn",
    secrets: secretsOf(config),
    destination: { write: (line) => terminal.err(line) },
  });
}
