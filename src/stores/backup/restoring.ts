import type { Channel } from "../../domain/channels/channel.ts";
import { isNumber, isText, listOf, readerOf, shape } from "../checks.ts";
import { isChannel } from "../records/channel-record.ts";
import { jsonValue } from "../records/json-value.ts";
import { tables } from "../tables.ts";
import type { Reader } from "../walk.ts";

/** A restore that has begun: stored until it is done. */
export interface Restoring {
  /** Of the file. */
  sha256: string;
  takenAtMs: number;
  /** How many records are written. */
  done: number;
  /** The channels that the store had: meanwhile they admit no request. */
  channels: Channel[];
  /** Processes that held threads when the backup was taken: they are dead. */
  holders: string[];
}

const readRestoring = readerOf(
  "restore",
  shape<Restoring>({
    sha256: isText,
    takenAtMs: isNumber,
    done: isNumber,
    channels: listOf(isChannel),
    holders: listOf(isText),
  }),
);

/** The restore that has begun and not ended; null: none. */
export async function restoringOf(reader: Pick<Reader, "read">): Promise<Restoring | null> {
  const { key } = tables.restoring;
  // A start does not wait for a replica: it would not be able to say that there is none.
  const read = { read: "fields", key, fields: ["json"] } as const;
  const [[text = null]] = await reader.read([read], { durable: false });
  return text === null ? null : readRestoring(jsonValue(text), key);
}

/** Throws the one line that refuses to use a store that is half restored. `where`: the store, in words. */
export function refuseRestoring(restoring: Restoring | null, where: string): void {
  if (restoring === null) return;
  const takenAt = new Date(restoring.takenAtMs).toISOString();
  throw new Error(
    `Cannot open the store ${where}: a restore of the backup of ${takenAt} has not ended; run \`store restore\` with the same file again, or empty the store and begin anew`,
  );
}
