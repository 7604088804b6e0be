import { isNumber, isText, listOf, readerOf, shape } from "../checks.ts";
import { isChannel } from "../channel-record.ts";
import type { Restoring } from "./source.ts";

/** The note about a restore in the store that it fills. */
export const readRestoring = readerOf(
  "restore",
  shape<Restoring>({
    sha256: isText,
    takenAtMs: isNumber,
    done: isNumber,
    channels: listOf(isChannel),
    holders: listOf(isText),
  }),
);

/** Throws the one line that refuses to use a store that is half restored. `where`: the store, in words. */
export function refuseRestoring(restoring: Restoring | null, where: string): void {
  if (restoring === null) return;
  const takenAt = new Date(restoring.takenAtMs).toISOString();
  throw new Error(
    `Cannot open the store ${where}: a restore of the backup of ${takenAt} has not ended; run \`store restore\` with the same file again, or empty the store and begin anew`,
  );
}
