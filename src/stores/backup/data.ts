import type { Clock } from "../../clock.ts";
import { suspicionsOf } from "../check/suspicions.ts";
import type { Engine } from "../engine.ts";
import { STORE_FORMAT } from "../format.ts";
import type { Reader } from "../walk.ts";
import { countsOf } from "./counts.ts";
import { backupSource } from "./read-store.ts";
import { restoreTarget } from "./restore-target.ts";
import { retrying } from "./retrying.ts";
import type { Compaction, StoreData } from "./store-data.ts";

/** What each database does in its own way. */
export interface DataMatters {
  clock: Clock;
  /** One moment of the data; absent: they are read while they change. */
  moment?: () => Reader & { close(): void };
  /** How many instances of the service work on the store. */
  instances: () => Promise<number>;
  /** The size of the data; null if it may not be asked. */
  bytes: () => Promise<number | null>;
  compact: () => Promise<Compaction>;
}

/** A store's data, on any engine; closing them closes the engine. */
export function storeData(
  stored: Engine,
  { clock, moment, instances, bytes, compact }: DataMatters,
): StoreData {
  const { kind } = stored;
  const engine = retrying(stored);
  const target = restoreTarget(engine, clock);

  return {
    kind,
    target,

    source() {
      const at = moment?.();
      return backupSource(at ?? engine, { kind, close: () => at?.close() });
    },

    async info() {
      return {
        ...(await countsOf(engine)),
        instances: await instances(),
        bytes: await bytes(),
        restoring: await target.restoring(),
        format: STORE_FORMAT,
      };
    },

    suspicions: (onWalked) =>
      suspicionsOf(engine, { onWalked, isServed: async () => (await instances()) > 0 }),
    compact,
    close: () => stored.close(),
  };
}
