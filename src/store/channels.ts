import type { Channel } from "../domain/channel.ts";

/** Channels and blocked addresses: kept in memory by every instance, renewed by the notice and by reading. */
export interface ChannelStore {
  channels(): Promise<Channel[]>;
  channel(slug: string): Promise<Channel | null>;
  /** Writes the whole channel and gives the notice. */
  putChannel(channel: Channel): Promise<void>;
  /** Addresses and CIDR ranges. */
  blockedIps(): Promise<string[]>;
  blockIp(address: string): Promise<void>;
  /** False where it was not blocked. */
  unblockIp(address: string): Promise<boolean>;
  /** A number that grows with every change of channels or addresses. */
  changeCount(): Promise<number>;
  /** Calls back soon after a change made anywhere, at the latest with the next beat of this process. Returns how to stop. */
  onChange(callback: () => void): () => void;
}
