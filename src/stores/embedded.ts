import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import { openLmdbEngine } from "./engines/lmdb/engine.ts";
import type { SealingOptions } from "./steps/codec.ts";
import { storeOn } from "./steps/store.ts";

/**
 * The embedded store: lmdb, in one folder, without a server. The command line may open the folder beside the service;
 * `serve` locks it first (data-dir-lock.ts), because the store takes every other holder of a thread for a dead one.
 * Throws if the folder cannot be opened, or has a store of another format, or one that is half restored.
 */
export async function openEmbeddedStore(
  options: { dataDir: string; clock: Clock } & SealingOptions,
): Promise<Store> {
  const { dataDir, clock, wrapping, owners } = options;
  const engine = await openLmdbEngine({ dataDir, clock });
  return storeOn(engine, { clock, where: `in ${dataDir}`, log: { warn() {} }, wrapping, owners });
}
