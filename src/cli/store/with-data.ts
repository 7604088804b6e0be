import type { Config } from "../../config.ts";
import { openStoreData } from "../../installation/open-store-data.ts";
import type { StoreData } from "../../stores/backup/store-data.ts";
import type { Terminal } from "../command/terminal.ts";
import { atStore } from "../command/with-store.ts";

/**
 * Opens the data of the environment's store for one command, also while a service runs on it, and closes them again.
 * `mayBeNew`: creates the store if there is none.
 */
export function withStoreData<Result>(
  terminal: Terminal,
  use: (data: StoreData, config: Config) => Promise<Result>,
  options: { mayBeNew?: boolean } = {},
): Promise<Result> {
  return atStore(
    terminal,
    async ({ config, log, service }) => {
      const data = await openStoreData({ config, log, engine: service?.engine });
      try {
        return await use(data, config);
      } finally {
        await data.close();
      }
    },
    options,
  );
}
