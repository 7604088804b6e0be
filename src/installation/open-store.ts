import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store.ts";
import type { Engine } from "../stores/engine.ts";
import type { FilesSettings } from "../config/files.ts";
import type { OutsideFiles } from "../stores/files/outside-files.ts";
import { refuseLockedStore } from "../stores/content-keys/refuse-locked.ts";
import { createWrapping } from "../stores/content-keys/wrapping.ts";
import type { Wrapping } from "../stores/content-keys/wrapping.ts";

interface OpenStoreOptions {
  config: Config;
  clock: Clock;
  log: Log;
  /** Called after each round trip to Redis, with the command's name and its time. */
  onCommand?: (name: string, ms: number) => void;
  /** Of the service that has the embedded store's file open. */
  engine?: Engine | undefined;
}

/**
 * Opens the configured store, its contents encrypted with CONTENT_KEYS. Throws if a key is missing that something in the
 * store needs.
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const wrapping = createWrapping(options.config.contentKeys ?? NO_KEYS);
  const store = await openSealedStore(options, wrapping);
  try {
    await refuseLockedStore(store, wrapping);
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

export const NO_KEYS = { seals: false, keys: [] };

/**
 * Opens REDIS_URL, or the embedded store in DATA_DIR, whatever its contents were encrypted by. Without `wrapping` those
 * cannot be read. Loads only the code of that one.
 */
export async function openSealedStore(options: OpenStoreOptions, wrapping?: Wrapping): Promise<Store> {
  const { config, clock, log, onCommand, engine } = options;
  const outside = await placeOfFiles(config.files);
  if (config.redisUrls.length === 0) {
    const { openEmbeddedStore } = await import("../stores/embedded.ts");
    return await openEmbeddedStore({
      dataDir: config.dataDir,
      clock,
      wrapping,
      outside,
      ...(engine ? { engine } : {}),
    });
  }
  const { openRedisStore } = await import("../stores/redis.ts");
  return await openRedisStore({
    urls: config.redisUrls.map((url) => url.reveal()),
    durability: config.durability,
    clock,
    log,
    wrapping,
    outside,
    ...(onCommand === undefined ? {} : { onCommand }),
  });
}

/** Null: the bytes of files are in the store. Loads only the code of that place. */
async function placeOfFiles({ place }: FilesSettings): Promise<OutsideFiles | null> {
  if (place === null) return null;
  if ("folder" in place) {
    const { folderOfFiles } = await import("../stores/files/folder.ts");
    return folderOfFiles(place.folder);
  }
  const { bucketOfFiles } = await import("../stores/files/bucket.ts");
  return bucketOfFiles({
    url: place.bucket,
    accessKeyId: place.accessKeyId.reveal(),
    secretAccessKey: place.secretAccessKey.reveal(),
    region: place.region,
  });
}
