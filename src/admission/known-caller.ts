import type { Clock } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { keysStillValid } from "../domain/channels/older-keys.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Secret } from "../secret.ts";
import type { RequestHead } from "./arrival.ts";
import type { Directory } from "./directory.ts";
import { bearerFrom, hasHash, keyCheck } from "./keys.ts";

/**
 * Does a request carry a valid key of the installation, whichever its route wants? It admits nobody: it tells whose
 * further headers may be believed. `slug`: the channel in the path, whose secret key counts too.
 */
export type IsKnownCaller = (request: Pick<RequestHead, "headers">, slug: string | undefined) => boolean;

export function createKnownCaller({
  transportKeys,
  directory,
  clock,
}: {
  transportKeys: readonly Secret[];
  directory: Pick<Directory, "channel" | "operatorOf">;
  clock: Pick<Clock, "now">;
}): IsKnownCaller {
  const isTransportKey = keyCheck(...transportKeys);

  function isSecretKey(key: string, slug: string): boolean {
    try {
      return secretKeyHashes(directory.channel(slug), clock.now()).some((keyHash) => hasHash(key, keyHash));
    } catch (error) {
      // A channel that cannot be read: its key cannot be checked.
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  return (request, slug) => {
    const key = bearerFrom(request.headers.get("authorization"));
    if (key === null) return false;
    return (
      isTransportKey(key) ||
      directory.operatorOf(key) !== null ||
      (slug !== undefined && isSecretKey(key, slug))
    );
  };
}

/** The hashes of a web channel's valid secret keys: the present one, and older ones during a rotation. */
export function secretKeyHashes(channel: Channel | null, nowMs: number): string[] {
  if (channel?.kind !== "web") return [];
  return [channel, ...keysStillValid(channel, nowMs)].flatMap(({ secretKeyHash }) => secretKeyHash ?? []);
}
