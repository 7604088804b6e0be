import type { Channel } from "../domain/channel.ts";
import type { UnreadableRecord } from "./unreadable.ts";

/** Channels and blocked addresses: kept in memory by every instance, renewed by the notice and by reading. */
export interface ChannelStore {
  /** Those that can be read. `onUnreadable` is told of each other one; without it the first of them is thrown. */
  channels(onUnreadable?: (unreadable: UnreadableChannel) => void): Promise<Channel[]>;
  channel(slug: string): Promise<Channel | null>;
  /** Writes the whole channel and gives the notice. */
  putChannel(channel: Channel): Promise<void>;
  /** Addresses and CIDR ranges. */
  blockedIps(): Promise<string[]>;
  blockIp(address: string): Promise<void>;
  /** False where it was not blocked. */
  unblockIp(address: string): Promise<boolean>;
  /** A restore is under way, or was interrupted: channels are away until its end. */
  isRestoring(): Promise<boolean>;
  /** A number that grows with every change of channels, addresses or operators, of who is blocked or whitelisted, or of whose tokens were revoked. */
  changeCount(): Promise<number>;
  /** Calls back soon after a change made anywhere, at the latest with the next beat of this process. Returns how to stop. */
  onChange(callback: () => void): () => void;
}

/** A channel whose record is damaged, or of a newer version (NewerRecord). */
export interface UnreadableChannel {
  slug: string;
  error: UnreadableRecord;
  /** How its requests are known, as far as the record tells; null, none: it does not. */
  publishableKey: string | null;
  allowedOrigins: string[];
}
