import type { Channel } from "../domain/channels/channel.ts";
import type { PlainLog } from "../log.ts";
import { AwayRecord, NewerRecord } from "../store.ts";
import type { UnreadableChannel, UnreadableRecord } from "../store.ts";

/**
 * Channels whose record cannot be read, with their last readable state: by it requests are recognized that the record no
 * longer identifies, and runs in progress continue.
 */
export interface UnreadableChannels {
  /**
   * Takes a reading of the store, and returns it with what is known from earlier ones: of a channel that is away, what was read
   * last stays in force; of another unreadable one, its doors do.
   */
  noted(reading: ChannelReading): ChannelReading;
  /** Its last readable state; null if it has none. */
  lastRead(slug: string): Channel | null;
}

export interface ChannelReading {
  readable: readonly Channel[];
  unreadable: readonly UnreadableChannel[];
}

export function createUnreadableChannels(log: Pick<PlainLog, "warn">): UnreadableChannels {
  let last = new Map<string, Channel>();
  let told = new Set<string>();

  function tell({ slug, error }: UnreadableChannel): void {
    if (told.has(slug)) return;
    log.warn({ slug, reason: error.message }, textOf(error, last.has(slug)));
  }

  function withDoors(channel: UnreadableChannel): UnreadableChannel {
    const before = last.get(channel.slug);
    const { publishableKey, allowedOrigins } = channel;
    return {
      ...channel,
      publishableKey: publishableKey ?? before?.publishableKey ?? null,
      allowedOrigins: allowedOrigins.length > 0 ? allowedOrigins : (before?.allowedOrigins ?? []),
    };
  }

  return {
    noted({ readable, unreadable }) {
      for (const channel of unreadable) tell(channel);
      told = new Set(unreadable.map(({ slug }) => slug));
      const kept = unreadable.flatMap(({ slug }) => last.get(slug) ?? []);
      last = new Map([...readable, ...kept].map((channel) => [channel.slug, channel]));
      const isInForce = ({ slug, error }: UnreadableChannel) => error instanceof AwayRecord && last.has(slug);
      const inForce = new Set(unreadable.filter(isInForce).map(({ slug }) => slug));
      return {
        readable: [...readable, ...kept.filter(({ slug }) => inForce.has(slug))],
        unreadable: unreadable.filter(({ slug }) => !inForce.has(slug)).map(withDoors),
      };
    },
    lastRead: (slug) => last.get(slug) ?? null,
  };
}

function textOf(error: UnreadableRecord, isKnown: boolean): string {
  if (error instanceof AwayRecord) {
    return isKnown
      ? "cannot reach a channel: what was read last stays in force until its part of the store is back"
      : "cannot reach a channel: its requests are answered 503 until its part of the store is back";
  }
  return error instanceof NewerRecord
    ? "left a channel alone: its requests are answered 503"
    : "cannot read a channel: its requests are answered 503 until it is written anew";
}
