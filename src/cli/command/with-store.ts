import { systemClock } from "../../clock.ts";
import { readConfig } from "../../config.ts";
import type { Config } from "../../config.ts";
import { openStore } from "../../installation/open-store.ts";
import type { Log } from "../../log.ts";
import type { Store } from "../../store.ts";
import type { Ask } from "./ask.ts";
import { commandLog } from "./command-log.ts";
import { reachStore } from "./local-service.ts";
import type { LocalService } from "./local-service.ts";
import { requireStore } from "./require-store.ts";
import type { Terminal } from "./terminal.ts";

/** Where the store of the environment is, for one command. */
export interface Place {
  config: Config;
  log: Log;
  /** Who has the embedded store; null: nobody, or it is Redis. */
  service: LocalService | null;
}

/** Finds the store of the environment, and keeps others from an embedded one that nobody serves. */
export async function atStore<Result>(
  terminal: Terminal,
  use: (place: Place) => Promise<Result>,
  { mayBeNew = false } = {},
): Promise<Result> {
  const config = readConfig(terminal.env);
  if (!mayBeNew) requireStore(config);
  const { service, leave } = await reachStore(config);
  try {
    return await use({ config, log: commandLog(terminal, config), service });
  } finally {
    await leave();
  }
}

/** Opens the store of the environment for one command, also while a service runs on it, and closes it again. */
export function withStore<Result>(
  terminal: Terminal,
  use: (store: Store, config: Config) => Promise<Result>,
): Promise<Result> {
  return atStore(terminal, async ({ config, log, service }) => {
    const store = await openStore({ config, clock: systemClock, log, engine: service?.engine });
    try {
      return await use(store, config);
    } finally {
      await store.close();
    }
  });
}

/**
 * Lends the operator API to one command: that of the service which has the store, or else one of this process. It is opened
 * by the first request.
 */
export async function withOperatorApi(terminal: Terminal, use: (ask: Ask) => Promise<void>): Promise<void> {
  const closing: (() => Promise<void>)[] = [];
  const open = async () => {
    const config = readConfig(terminal.env);
    requireStore(config);
    const { service, leave } = await reachStore(config);
    closing.push(leave);
    if (service !== null) return service.ask;
    const store = await openStore({ config, clock: systemClock, log: commandLog(terminal, config) });
    closing.push(() => store.close());
    // Half of the service: neither `serve` nor a command that asks one loads it like this.
    const { openOperatorApi } = await import("./operator-api.ts");
    return openOperatorApi(terminal, store, config);
  };
  let opened: Promise<Ask> | undefined;
  try {
    await use(async (asked) => (await (opened ??= open()))(asked));
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
