import type { Channel } from "../domain/channels/channel.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { UnreadableChannel } from "../store.ts";
import { isObject, isText, listOf } from "./checks.ts";
import { readChannel } from "./records/channel-record.ts";

/** A channel as it is stored, parsed if it is JSON. */
export interface StoredChannel {
  slug: string;
  value: unknown;
}

/** The readable channels; `onUnreadable` gets each other one, and without it the first of these is thrown. */
export function readChannels(
  stored: readonly StoredChannel[],
  onUnreadable?: (unreadable: UnreadableChannel) => void,
): Channel[] {
  return stored.flatMap(({ slug, value }) => {
    try {
      return [readChannel(value, slug)];
    } catch (error) {
      if (!(error instanceof UnreadableRecord) || !onUnreadable) throw error;
      onUnreadable({ slug, error, ...doorsOf(value) });
      return [];
    }
  });
}

/** Null: it is damaged. Throws NewerRecord. */
export function readableChannel({ slug, value }: StoredChannel): Channel | null {
  try {
    return readChannel(value, slug);
  } catch (error) {
    if (error instanceof UnreadableRecord && !(error instanceof NewerRecord)) return null;
    throw error;
  }
}

const isTexts = listOf(isText);

function doorsOf(value: unknown): Pick<UnreadableChannel, "publishableKey" | "allowedOrigins"> {
  const { publishableKey, allowedOrigins } = isObject(value) ? value : {};
  return {
    publishableKey: isText(publishableKey) ? publishableKey : null,
    allowedOrigins: isTexts(allowedOrigins) ? allowedOrigins : [],
  };
}
