import type { Engine } from "../engine.ts";
import type { Reader } from "../walk.ts";

/** A store for `chat-agent store`: its data are read directly, not by its operations, beside a running service. */
export interface StoreData {
  /** Its calls are retried during an outage (retrying.ts). */
  engine: Engine;
  /** Reads everything as it is now, or, on Redis and beside a service, while it changes. */
  reading<T>(use: (reader: Reader) => Promise<T>): Promise<T>;
  /** How many instances of the service work on the store. */
  instances(): Promise<number>;
  /** The size of the data, on the disk or in the servers' memory; null if it may not be asked. */
  bytes(): Promise<number | null>;
  /** Removes deleted data from the disk. This closes the embedded store. */
  compact(): Promise<Compaction>;
  close(): Promise<void>;
}

export type Compaction =
  | { kind: "embedded"; bytesBefore: number; bytesAfter: number }
  | { kind: "redis"; servers: number; rewritten: number };
