import type { Attributes } from "../domain/people/attributes.ts";
import type { Clock } from "../clock.ts";
import { newId } from "../domain/ids.ts";
import { Refusal } from "../domain/refusal.ts";
import { mayTalk } from "../domain/people/user.ts";
import type { User } from "../domain/people/user.ts";
import type { Store, UserAdmission } from "../store.ts";
import type { Arrival } from "./arrival.ts";
import type { Directory } from "./directory.ts";

/** Of an arrival: where its log line gets what is known of it. */
type Noting = Pick<Arrival, "note">;

/** The users of transports' requests: the channel (404), and whether the user may talk (403). */
export interface TransportUsers {
  /** Created on first use. A new displayName replaces the stored one, and so do attributes. */
  user(arrival: Noting, named: NamedUser): Promise<AdmittedUser>;
  /** The same as `user`, but refuses (403) a user who may not talk. */
  speaker(arrival: Noting, named: NamedUser): Promise<AdmittedUser>;
  /** The uid of a user's thread. Creates nothing: null if the user or the thread is unknown. Works for blocked users. */
  threadOf(arrival: Noting, named: NamedThread): Promise<string | null>;
  /** The same as `threadOf`, but Refusal("forbidden") for a user who may not talk. */
  speakersThread(arrival: Noting, named: NamedThread): Promise<string | null>;
  /** An existing user; otherwise Refusal("not-found"). Works for blocked users. */
  knownUser(arrival: Noting, named: Pick<NamedThread, "slug" | "externalId">): Promise<User>;
}

export interface NamedUser {
  slug: string;
  externalId: string;
  /** null: unchanged. */
  displayName: string | null;
  /** Absent: unchanged. */
  attributes?: Attributes | undefined;
  /** The thread that the request names, and the uid to use if it is new; null: none. */
  thread: { name: string; newUid: string } | null;
}

export interface AdmittedUser {
  user: User;
  mayTalk: boolean;
  /** The uid of the named thread; null if none was named. */
  threadUid: string | null;
}

export interface NamedThread {
  slug: string;
  externalId: string;
  threadId: string;
}

export function createTransportUsers({
  directory,
  store,
  clock,
}: {
  directory: Pick<Directory, "channel">;
  store: Pick<Store, "admitUser" | "channel">;
  clock: Clock;
}): TransportUsers {
  /** The store decides whether the channel exists: it may be newer than the directory. */
  function mustBeReadable(slug: string): void {
    directory.channel(slug);
  }

  async function user({ note }: Noting, { slug, ...named }: NamedUser): Promise<AdmittedUser> {
    note({ slug });
    mustBeReadable(slug);
    const atMs = clock.now();
    const admission = await store.admitUser({ slug, ...named, newUserId: newId(), creates: true, atMs });
    if (!admission) throw new Refusal("not-found", "Unknown channel");
    const { user, channel, threadUid } = admission;
    note({ userId: user.userId });
    return { user, mayTalk: mayTalk(channel, user), threadUid };
  }

  /** Creates nothing. null: the user is unknown. */
  async function known(
    { note }: Noting,
    { slug, externalId, threadId }: { slug: string; externalId: string; threadId: string | null },
  ): Promise<UserAdmission | null> {
    note({ slug });
    mustBeReadable(slug);
    const admission = await store.admitUser({
      slug,
      externalId,
      displayName: null,
      newUserId: newId(),
      thread: threadId === null ? null : { name: threadId, newUid: null },
      creates: false,
      atMs: clock.now(),
    });
    if (!admission && !(await store.channel(slug))) throw new Refusal("not-found", "Unknown channel");
    return admission;
  }

  function noted({ note }: Noting, uid: string | null): string | null {
    if (uid !== null) note({ uid });
    return uid;
  }

  return {
    user,

    async speaker(arrival, named) {
      const admitted = await user(arrival, named);
      if (!admitted.mayTalk) throw new Refusal("forbidden");
      return admitted;
    },

    async threadOf(arrival, { slug, externalId, threadId }) {
      const admission = await known(arrival, { slug, externalId, threadId });
      return noted(arrival, admission?.threadUid ?? null);
    },

    async speakersThread(arrival, { slug, externalId, threadId }) {
      const admission = await known(arrival, { slug, externalId, threadId });
      if (admission && !mayTalk(admission.channel, admission.user)) throw new Refusal("forbidden");
      return noted(arrival, admission?.threadUid ?? null);
    },

    async knownUser(arrival, { slug, externalId }) {
      const admission = await known(arrival, { slug, externalId, threadId: null });
      if (!admission) throw new Refusal("not-found", "Unknown user");
      arrival.note({ userId: admission.user.userId });
      return admission.user;
    },
  };
}
