import { isNumber, isText, listOf, readerOf, shape } from "../checks.ts";
import { isChannel } from "../records.ts";
import type { Restoring } from "./source.ts";

/** What a restore notes in the store that it fills. */
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
