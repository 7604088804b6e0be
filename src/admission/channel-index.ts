import type { Channel } from "../domain/channel.ts";
import { blockedBy } from "./blocked-addresses.ts";
import { hostOf } from "./origin.ts";

/** Channels and blocked addresses, by what requests name of them. */
export function indexOf(channels: readonly Channel[], blockedIps: readonly string[]) {
  const web = channels.filter((channel) => channel.kind === "web");
  const origins = new Set(web.flatMap((channel) => channel.allowedOrigins));
  return {
    bySlug: new Map(channels.map((channel) => [channel.slug, channel])),
    byKey: new Map<string | null, Channel>(web.map((channel) => [channel.publishableKey, channel])),
    origins,
    hosts: new Set([...origins].map(hostOf)),
    isBlocked: blockedBy(blockedIps),
  };
}
