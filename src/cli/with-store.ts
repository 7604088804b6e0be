import { systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import type { Config } from "../config.ts";
import { openStore } from "../installation/open-store.ts";
import type { Store } from "../store.ts";
import type { Ask } from "./ask.ts";
import { commandLog } from "./command-log.ts";
import { openOperatorApi } from "./operator-api.ts";
import { requireStore } from "./require-store.ts";
import type { Terminal } from "./terminal.ts";

/** Opens the store of the environment for one command, also while the service runs, and closes it again. */
export async function withStore<Result>(
  terminal: Terminal,
  use: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(terminal.env);
  requireStore(config);
  const store = await openStore({ config, clock: systemClock, log: commandLog(terminal, config) });
  try {
    return await use(store, config);
  } finally {
    await store.close();
  }
}

/** Opens the operator API over the store of the environment for one command. */
export async function withOperatorApi(terminal: Terminal, use: (ask: Ask) => Promise<void>): Promise<void> {
  await withStore(terminal, async (store, config) => use(await openOperatorApi(terminal, store, config)));
}
