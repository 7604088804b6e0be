import { readConfig } from "../../config.ts";
import type { Config } from "../../config.ts";
import { openStoreData } from "../../installation/open-store-data.ts";
import type { StoreData } from "../../stores/backup/store-data.ts";
import { commandLog } from "../command-log.ts";
import { requireStore } from "../require-store.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Opens the data of the environment's store for one command, also while the service runs, and closes them again.
 * `mayBeNew`: creates the store if there is none.
 */
export async function withStoreData<Result>(
  terminal: Terminal,
  use: (data: StoreData, config: Config) => Promise<Result>,
  { mayBeNew = false } = {},
): Promise<Result> {
  const config = readConfig(terminal.env);
  if (!mayBeNew) requireStore(config);
  const data = await openStoreData({ config, log: commandLog(terminal, config) });
  try {
    return await use(data, config);
  } finally {
    await data.close();
  }
}
