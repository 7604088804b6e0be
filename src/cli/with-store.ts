import { systemClock } from "../clock.ts";
import { readConfig, secretsOf } from "../config.ts";
import type { Config } from "../config.ts";
import { createLog } from "../log.ts";
import { openStore } from "../installation/open-store.ts";
import type { Store } from "../store.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Opens the store of the environment for one command, beside a running service, and closes it again. Warnings of its log
 * go to stderr: stdout has results alone.
 */
export async function withStore<Result>(
  terminal: Terminal,
  use: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(terminal.env);
  const log = createLog({
    level: "warn",
    secrets: secretsOf(config),
    destination: { write: (line) => terminal.err(line) },
  });
  const store = await openStore({ config, clock: systemClock, log });
  try {
    return await use(store, config);
  } finally {
    await store.close();
  }
}
