import { resolve } from "node:path";
import type { Config } from "../../config.ts";
import { holdsStore } from "../../stores/engines/lmdb/data-dir.ts";
import { CannotDo } from "./terminal.ts";

/** A command never creates a store: a mistyped DATA_DIR would become a new, empty one. */
export function requireStore({ redisUrls, dataDir }: Config): void {
  if (redisUrls.length > 0 || holdsStore(dataDir)) return;
  throw new CannotDo(
    `Cannot find a store in DATA_DIR ${resolve(dataDir)}: give the command the DATA_DIR or REDIS_URL of the service, which makes its store when it first starts`,
  );
}
