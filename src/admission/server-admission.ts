import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Channel } from "../domain/channel.ts";
import { newId } from "../domain/ids.ts";
import { Refusal } from "../domain/refusal.ts";
import { mayTalk } from "../domain/user.ts";
import type { User } from "../domain/user.ts";
import type { Secret } from "../secret.ts";
import type { Store } from "../store.ts";
import { mustDeclareAtMost } from "./arrival.ts";
import type { Arrival, RequestHead } from "./arrival.ts";
import type { Directory } from "./directory.ts";
import { bearerFrom, hasHash, keyCheck, mustHoldKey } from "./keys.ts";

/**
 * Who may call the server API. The checks in their order (contract, Order of the checks): the declared length (413), the
 * key (401); the caller reads the body; then the channel (404), and whether the user may talk (403).
 */
export interface ServerAdmission {
  /** A transport, by the transport key. */
  transport(request: RequestHead): void;
  /** The backend of a web channel, by the channel's secret key. An unknown slug is refused before the key (404). */
  backend(arrival: Arrival, slug: string): Channel;
  /** A transport's user, created on first use. A new displayName replaces the stored one. */
  user(arrival: Arrival, named: NamedUser): Promise<AdmittedUser>;
  /** As `user`, and refused (403) unless the user may talk. */
  speaker(arrival: Arrival, named: NamedUser): Promise<AdmittedUser>;
  /** The uid of a user's thread. Creates nothing: null if the user or the thread is unknown. Not refused to a blocked user. */
  threadOf(
    arrival: Arrival,
    named: { slug: string; externalId: string; threadId: string },
  ): Promise<string | null>;
}

export interface NamedUser {
  slug: string;
  externalId: string;
  /** null: as it is stored. */
  displayName: string | null;
  /** The thread that the request names, and its uid in case that it is new; null: none. */
  thread: { name: string; newUid: string } | null;
}

export interface AdmittedUser {
  user: User;
  mayTalk: boolean;
  /** The uid of the thread that was named; null if none was. */
  threadUid: string | null;
}

export function createServerAdmission(dependencies: {
  config: Pick<Config, "serverMaxBodyBytes">;
  transportKey: Secret;
  directory: Pick<Directory, "channel">;
  store: Pick<Store, "admitUser" | "channel">;
  clock: Clock;
}): ServerAdmission {
  const { config, transportKey, directory, store, clock } = dependencies;
  const isTransportKey = keyCheck(transportKey);

  async function user({ note }: Arrival, { slug, ...named }: NamedUser): Promise<AdmittedUser> {
    note({ slug });
    const atMs = clock.now();
    const admission = await store.admitUser({
      slug,
      ...named,
      newUserId: newId(),
      creates: true,
      atMs,
    });
    if (!admission) throw new Refusal("not-found", "Unknown channel");
    const { user, channel, threadUid } = admission;
    note({ userId: user.userId });
    return { user, mayTalk: mayTalk(channel, user), threadUid };
  }

  return {
    transport(request) {
      mustDeclareAtMost(config.serverMaxBodyBytes, request);
      mustHoldKey(request, isTransportKey);
    },

    backend({ request, note }, slug) {
      mustDeclareAtMost(config.serverMaxBodyBytes, request);
      const channel = directory.channel(slug);
      if (!channel) throw new Refusal("not-found", "Unknown channel");
      note({ slug });
      const { kind, secretKeyHash } = channel;
      const key = bearerFrom(request.headers.get("authorization"));
      const isTheirs =
        kind === "web" && secretKeyHash !== null && key !== null && hasHash(key, secretKeyHash);
      if (!isTheirs) throw new Refusal("unauthorized");
      return channel;
    },

    user,

    async speaker(arrival, named) {
      const admitted = await user(arrival, named);
      if (!admitted.mayTalk) throw new Refusal("forbidden");
      return admitted;
    },

    async threadOf({ note }, { slug, externalId, threadId }) {
      note({ slug });
      const atMs = clock.now();
      const admission = await store.admitUser({
        slug,
        externalId,
        displayName: null,
        newUserId: newId(),
        thread: { name: threadId, newUid: null },
        creates: false,
        atMs,
      });
      if (!admission && !(await store.channel(slug))) throw new Refusal("not-found", "Unknown channel");
      const uid = admission?.threadUid ?? null;
      if (uid !== null) note({ uid });
      return uid;
    },
  };
}
