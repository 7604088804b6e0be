import { NewerRecord } from "../store.ts";
import type { ThreadRecord } from "../store.ts";
import { threadHost } from "./charts.ts";

/**
 * Throws where nobody here could go on with the thread: readers would wait for ever. A snapshot that a newer version wrote
 * is another instance's; a damaged one is its holder's to write anew, as long as there is one.
 */
export function refuseUnreadable(record: ThreadRecord | null): void {
  if (record === null || record.snapshot === null) return;
  try {
    threadHost.thaw(record.snapshot, record.uid);
  } catch (error) {
    if (error instanceof NewerRecord || record.fence === null) throw error;
  }
}
