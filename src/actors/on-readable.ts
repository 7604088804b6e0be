import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { Mend } from "./mend.ts";

/**
 * Does something with a thread; where part of it cannot be read, that is set aside and the work done once more
 * (`isAgain`). What a newer version wrote stays: NewerRecord, which callers are told as 503.
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
