import { resolve } from "node:path";
import type { Config } from "../config.ts";
import { holdsStore } from "../stores/embedded/data-dir.ts";
import { CannotDo } from "./terminal.ts";

/** A command looks after the store that a start made, and makes none: a mistyped DATA_DIR would be an empty one. */
export function requireStore({ redisUrls, dataDir }: Config): void {
  if (redisUrls.length > 0 || holdsStore(dataDir)) return;
  throw new CannotDo(
    `Cannot find a store in DATA_DIR ${resolve(dataDir)}: give the command the DATA_DIR or REDIS_URL of the service, which makes its store when it first starts`,
  );
}
