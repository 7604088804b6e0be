import type { Channel } from "../domain/channels/channel.ts";
import type { UnreadableChannel } from "../store.ts";
import { blockedBy } from "./blocked-addresses.ts";
import { hostOf } from "./origin.ts";

/** Channels and blocked addresses, indexed as requests name them; unreadable channels too. */
export function indexOf(
  channels: readonly Channel[],
  unreadable: readonly UnreadableChannel[],
  blockedIps: readonly string[],
) {
  const web = channels.filter((channel) => channel.kind === "web");
  const origins = new Set([...web, ...unreadable].flatMap((channel) => channel.allowedOrigins));
  return {
    bySlug: new Map(channels.map((channel) => [channel.slug, channel])),
    byKey: new Map<string | null, Channel>(web.map((channel) => [channel.publishableKey, channel])),
    byOlderKey: new Map<string | null, { channel: Channel; untilMs: number }>(
      web.flatMap((channel) =>
        (channel.olderKeys ?? []).map(({ publishableKey, untilMs }) => [
          publishableKey,
          { channel, untilMs },
        ]),
      ),
    ),
    unreadable: new Map(unreadable.map((channel) => [channel.slug, channel])),
    unreadableKeys: new Set(unreadable.map(({ publishableKey }) => publishableKey)),
    origins,
    hosts: new Set([...origins].map(hostOf)),
    isBlocked: blockedBy(blockedIps),
  };
}
