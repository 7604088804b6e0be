import type { Suspicion } from "./rules.ts";
import type { BackupSource, RestoreTarget, Restoring } from "./source.ts";
import type { Counts } from "./records.ts";

/** A store as `chat-agent store` works on it: past its operations, beside the service that runs on it. */
export interface StoreData {
  readonly kind: "embedded" | "redis";
  /** Everything as it is from now on; to be closed. */
  source(): BackupSource;
  target: RestoreTarget;
  info(): Promise<StoreInfo>;
  /** Everything that looks as if a rule did not hold (rules.ts). `onWalked`: told how many records were looked at so far. */
  suspicions(onWalked?: (records: number) => void): AsyncIterable<Suspicion>;
  /** Rids the disk of what was deleted. The embedded store is closed by it. */
  compact(): Promise<Compaction>;
  close(): Promise<void>;
}

export type Compaction =
  | { kind: "embedded"; bytesBefore: number; bytesAfter: number }
  | { kind: "redis"; servers: number; rewritten: number };

export interface StoreInfo extends Counts {
  /** Instances of the service that were heard of lately. */
  instances: number;
  /** What the data take, on the disk or in the servers' memory; null where that may not be asked. */
  bytes: number | null;
  /** A restore that has begun and not ended. */
  restoring: Restoring | null;
  format: number;
}
