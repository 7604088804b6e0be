import { UnreadableRecord } from "../../store.ts";

/**
 * The record in a list of one; if it is unreadable, `onUnreadable` gets the error, and without it the error is
 * thrown.
 */
export function readReadable<T>(read: () => T, onUnreadable?: (error: UnreadableRecord) => void): T[] {
  try {
    return [read()];
  } catch (error) {
    if (!(error instanceof UnreadableRecord) || !onUnreadable) throw error;
    onUnreadable(error);
    return [];
  }
}
