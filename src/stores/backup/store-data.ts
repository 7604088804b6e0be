import type { Suspicion } from "../check/rules.ts";
import type { BackupSource, RestoreTarget, Restoring } from "./source.ts";
import type { Counts } from "./records.ts";

/** A store for `chat-agent store`: its data are read directly, not by its operations, beside a running service. */
export interface StoreData {
  readonly kind: "embedded" | "redis";
  /** Everything as it is from now on; must be closed. */
  source(): BackupSource;
  target: RestoreTarget;
  info(): Promise<StoreInfo>;
  /** Everything that seems to break a rule (rules.ts). `onWalked` gets the number of records checked so far. */
  suspicions(onWalked?: (records: number) => void): AsyncIterable<Suspicion>;
  /** Removes deleted data from the disk. This closes the embedded store. */
  compact(): Promise<Compaction>;
  close(): Promise<void>;
}

export type Compaction =
  | { kind: "embedded"; bytesBefore: number; bytesAfter: number }
  | { kind: "redis"; servers: number; rewritten: number };

export interface StoreInfo extends Counts {
  /** Instances of the service that have beaten lately. */
  instances: number;
  /** The size of the data, on the disk or in the servers' memory; null if it may not be asked. */
  bytes: number | null;
  /** A restore that has begun and not ended. */
  restoring: Restoring | null;
  format: number;
}
