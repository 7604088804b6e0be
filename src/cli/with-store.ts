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
  const store = await openOf(terminal, config);
  try {
    return await use(store, config);
  } finally {
    await store.close();
  }
}

/** Lends the operator API over the store of the environment to one command: opened by its first request. */
export async function withOperatorApi(terminal: Terminal, use: (ask: Ask) => Promise<void>): Promise<void> {
  let opened: Promise<{ ask: Ask; close: () => Promise<void> }> | undefined;
  try {
    await use(async (asked) => (await (opened ??= openApi(terminal))).ask(asked));
  } finally {
    await opened?.then(
      ({ close }) => close(),
      () => {},
    );
  }
}

async function openApi(terminal: Terminal) {
  const config = readConfig(terminal.env);
  const store = await openOf(terminal, config);
  const close = () => store.close();
  return { ask: await openOperatorApi(terminal, store, config), close };
}

function openOf(terminal: Terminal, config: Config): Promise<Store> {
  requireStore(config);
  return openStore({ config, clock: systemClock, log: commandLog(terminal, config) });
}
