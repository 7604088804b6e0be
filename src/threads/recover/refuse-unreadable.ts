import { NewerRecord } from "../../store.ts";
import type { ThreadRecord } from "../../store.ts";
import { threadHost } from "../../charts/charts.ts";

/**
 * Throws if no instance of this version can continue the thread, because its readers would wait for ever: if a newer
 * version wrote the snapshot, or if it is damaged and no holder will write it again.
 */
export function refuseUnreadable(record: ThreadRecord | null): void {
  if (record === null || record.snapshot === null) return;
  try {
    threadHost.thaw(record.snapshot, record.uid);
  } catch (error) {
    if (error instanceof NewerRecord || record.fence === null) throw error;
  }
}
