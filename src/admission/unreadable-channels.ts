import type { Channel } from "../domain/channel.ts";
import type { PlainLog } from "../log.ts";
import { NewerRecord } from "../store.ts";
import type { UnreadableChannel } from "../store.ts";

/**
 * Channels whose record cannot be read, with their last readable state: by it requests are recognized that the record no
 * longer identifies, and runs in progress continue.
 */
export interface UnreadableChannels {
  /** Takes a reading of the store, and returns the unreadable channels, as far as they are known. */
  noted(readable: readonly Channel[], unreadable: readonly UnreadableChannel[]): UnreadableChannel[];
  /** Its last readable state; null if it has none. */
  lastRead(slug: string): Channel | null;
}

export function createUnreadableChannels(log: Pick<PlainLog, "warn">): UnreadableChannels {
  let last = new Map<string, Channel>();
  let told = new Set<string>();

  function tell({ slug, error }: UnreadableChannel): void {
    if (told.has(slug)) return;
    const text =
      error instanceof NewerRecord
        ? "left a channel alone: its requests are answered 503"
        : "cannot read a channel: its requests are answered 503 until it is written anew";
    log.warn({ slug, reason: error.message }, text);
  }

  return {
    noted(readable, unreadable) {
      for (const channel of unreadable) tell(channel);
      told = new Set(unreadable.map(({ slug }) => slug));
      const kept = unreadable.flatMap(({ slug }) => last.get(slug) ?? []);
      last = new Map([...readable, ...kept].map((channel) => [channel.slug, channel]));
      return unreadable.map((channel) => {
        const before = last.get(channel.slug);
        const { publishableKey, allowedOrigins } = channel;
        return {
          ...channel,
          publishableKey: publishableKey ?? before?.publishableKey ?? null,
          allowedOrigins: allowedOrigins.length > 0 ? allowedOrigins : (before?.allowedOrigins ?? []),
        };
      });
    },
    lastRead: (slug) => last.get(slug) ?? null,
  };
}
