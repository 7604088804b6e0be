import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Secret } from "../secret.ts";
import type { Store } from "../store.ts";
import { mustDeclareAtMost } from "./arrival.ts";
import type { Arrival, RequestHead } from "./arrival.ts";
import type { Directory } from "./directory.ts";
import { TRANSPORT_KEY } from "./key-door.ts";
import type { KeyDoor } from "./key-door.ts";
import { hasHash, keyCheck } from "./keys.ts";
import { secretKeyHashes } from "./known-caller.ts";
import { createTransportUsers } from "./transport-users.ts";
import type { TransportUsers } from "./transport-users.ts";

/**
 * Admission to the server API, in the order of its checks (contract, Order of the checks): the declared length (413), the
 * key (401); then the caller reads the body, and its user is checked (transport-users.ts).
 */
export interface ServerAdmission extends TransportUsers {
  /** A transport, by the transport key. */
  transport(request: RequestHead): void;
  /** The backend of a web channel, by the channel's secret key. An unknown slug is refused before the key (404). */
  backend(arrival: Arrival, slug: string): Channel;
}

export function createServerAdmission(dependencies: {
  config: Pick<Config, "serverMaxBodyBytes">;
  transportKeys: readonly Secret[];
  keyDoor: KeyDoor;
  directory: Pick<Directory, "channel">;
  store: Pick<Store, "admitUser" | "channel">;
  clock: Clock;
}): ServerAdmission {
  const { config, transportKeys, keyDoor, directory, store, clock } = dependencies;
  const isTransportKey = keyCheck(...transportKeys);

  return {
    transport(request) {
      mustDeclareAtMost(config.serverMaxBodyBytes, request);
      keyDoor.mustHold(request, isTransportKey, TRANSPORT_KEY);
    },

    backend({ request, note }, slug) {
      mustDeclareAtMost(config.serverMaxBodyBytes, request);
      const channel = directory.channel(slug);
      if (!channel) throw new Refusal("not-found", "Unknown channel");
      note({ slug });
      const hashes = secretKeyHashes(channel, clock.now());
      keyDoor.mustHold(
        request,
        (key) => hashes.some((secretKeyHash) => hasHash(key, secretKeyHash)),
        `the secret key (sk_) of the web channel ${slug}`,
      );
      return channel;
    },

    ...createTransportUsers({ directory, store, clock }),
  };
}
