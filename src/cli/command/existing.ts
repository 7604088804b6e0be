import type { Channel } from "../../domain/channels/channel.ts";
import type { User } from "../../domain/people/user.ts";
import type { Store, ThreadEntry } from "../../store.ts";
import { CannotDo } from "./terminal.ts";

/** The channel. Throws CannotDo if none has that slug. */
export async function existingChannel(store: Store, slug: string): Promise<Channel> {
  const channel = await store.channel(slug);
  if (channel === null) throw new CannotDo(`Cannot find channel ${slug}: there is none of that slug`);
  return channel;
}

/** A user by external id or user id. Throws CannotDo if the channel has no such user. */
export async function existingUser(store: Store, slug: string, id: string): Promise<User> {
  await existingChannel(store, slug);
  const user = await store.findUser(slug, id);
  if (user === null) throw new CannotDo(`Cannot find user ${id}: channel ${slug} has none of that id`);
  return user;
}

/** A thread by the id in the list, or by the caller's own id among a user's threads. Throws CannotDo if there is none. */
export async function existingThread(
  store: Store,
  slug: string,
  { id, userId }: { id: string; userId: string | null },
): Promise<ThreadEntry> {
  await existingChannel(store, slug);
  if (userId === null) {
    const entry = await store.channelThread(slug, id);
    if (entry !== null) return entry;
    throw new CannotDo(
      `Cannot find thread ${id}: channel ${slug} has none of that id; your own id of it needs --user`,
    );
  }
  const user = await existingUser(store, slug, userId);
  const threads = await store.threads(slug, user.userId);
  const entry = threads.find(({ threadId, uid }) => threadId === id || uid === id);
  if (entry !== undefined) return entry;
  throw new CannotDo(`Cannot find thread ${id}: user ${userId} of channel ${slug} has none of that id`);
}
