import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";

import { checkInvariants } from "../../stores/twin/invariants.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { dumpEmbedded, dumpRedis } from "../../stores/dump-store.ts";
import { startRedis } from "../../support/stores/redis-server.ts";

/** An implementation of which each instance has a store of its own. */
export interface FlakyGround {
  /** For the instances, one for each. */
  stores: Store[];
  /** Closes the stores; answers what does not fit together in what they kept. */
  close(): Promise<string[]>;
}

export async function embeddedGround(): Promise<FlakyGround> {
  const dataDir = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  return {
    stores: [store],
    async close() {
      await store.close();
      return checkInvariants(await dumpEmbedded(dataDir));
    },
  };
}

/** Two instances, so that messages, mirrors and takeovers have their faults too. */
export async function redisGround(): Promise<FlakyGround> {
  const redis = await startRedis();
  const open = () =>
    openRedisStore({ urls: [redis.url], durability: "local", clock: systemClock, log: { warn() {} } });
  const stores = [await open(), await open()];
  return {
    stores,
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      const faults = checkInvariants(await dumpRedis([redis.url]));
      await redis.stop();
      return faults;
    },
  };
}
