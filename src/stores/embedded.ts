import type { Clock } from "../clock.ts";
import type { Store } from "../store.ts";
import { openLmdbEngine } from "./engines/lmdb/engine.ts";
import type { Engine } from "./engine.ts";
import type { OutsideFiles } from "./files/outside-files.ts";
import type { SealingOptions } from "./steps/codec.ts";
import { storeOn } from "./steps/store.ts";

/**
 * The embedded store: lmdb, in one folder, without a server. The caller holds the folder's lock (data-dir-lock.ts), or
 * borrows the engine of the process that does. Throws if the folder cannot be opened, or has a store of another format, or
 * one that is half restored.
 */
export async function openEmbeddedStore(
  options: { dataDir: string; clock: Clock; engine?: Engine; outside?: OutsideFiles | null } & SealingOptions,
): Promise<Store> {
  const { dataDir, clock, wrapping, owners, outside } = options;
  const engine = options.engine ?? (await openLmdbEngine({ dataDir, clock }));
  return storeOn(engine, { clock, where: `in ${dataDir}`, log: { warn() {} }, wrapping, owners, outside });
}
