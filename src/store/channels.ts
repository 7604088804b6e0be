import type { Channel } from "../domain/channels/channel.ts";
import type { UnreadableRecord } from "./unreadable.ts";

/** Channels and blocked addresses. Every instance caches them; a notice of a change, or time, makes it read them again. */
export interface ChannelStore {
  /**
   * All readable channels. `onUnreadable` gets each other one; without it the first of these is thrown. `onAway` gets those
   * whose part of the store does not answer while the rest does: a shard of a cluster. Without it that is StoreUnavailable.
   */
  channels(
    onUnreadable?: (unreadable: UnreadableChannel) => void,
    onAway?: (slug: string) => void,
  ): Promise<Channel[]>;
  channel(slug: string): Promise<Channel | null>;
  /** Writes the whole channel, and notifies (onChange). */
  putChannel(channel: Channel): Promise<void>;
  /** Writes it only if the stored channel is still `before`; null: none that can be read. False: it is not, and nothing was written. */
  replaceChannel(channel: Channel, before: Channel | null): Promise<boolean>;
  /** Addresses and CIDR ranges. */
  blockedIps(): Promise<string[]>;
  /** False if it is already blocked. */
  blockIp(address: string): Promise<boolean>;
  /** False if it was not blocked. */
  unblockIp(address: string): Promise<boolean>;
  /** A restore is in progress, or was interrupted: there are no channels until it ends. */
  isRestoring(): Promise<boolean>;
  /** A number that grows with every change of channels, addresses or operators, and when a user is blocked or whitelisted or loses its tokens. */
  changeCount(): Promise<number>;
  /** Calls back soon after a change by any instance, at the latest with this process's next beat. Returns a function that ends it. */
  onChange(callback: () => void): () => void;
}

/** A channel whose record is damaged, or written by a newer version (NewerRecord). */
export interface UnreadableChannel {
  slug: string;
  error: UnreadableRecord;
  /** By this and the origins its requests are recognized, as far as the record can be read; null, empty: it cannot. */
  publishableKey: string | null;
  allowedOrigins: string[];
}
