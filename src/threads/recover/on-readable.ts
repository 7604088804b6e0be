import { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { Mend } from "./mend.ts";

/**
 * Works on a thread; if part of it cannot be read, sets that part aside and does the work once more (`isAgain`). Records
 * of a newer version stay as they are: NewerRecord, which callers get as 503.
 */
export type OnReadable = <Result>(
  uid: string,
  work: (isAgain: boolean) => Promise<Result>,
) => Promise<Result>;

export function createOnReadable(mend: Mend): OnReadable {
  return async (uid, work) => {
    try {
      return await work(false);
    } catch (error) {
      if (!(error instanceof UnreadableRecord) || error instanceof NewerRecord) throw error;
      await mend(uid);
      return work(true);
    }
  };
}
