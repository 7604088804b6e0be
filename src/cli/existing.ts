import type { Channel } from "../domain/channel.ts";
import type { User } from "../domain/user.ts";
import type { Store } from "../store.ts";
import { CannotDo } from "./terminal.ts";

/** The channel. Throws CannotDo if there is none of that slug. */
export async function existingChannel(store: Store, slug: string): Promise<Channel> {
  const channel = await store.channel(slug);
  if (channel === null) throw new CannotDo(`Cannot find channel ${slug}: there is none of that slug`);
  return channel;
}

/** A user by external id or user id. Throws CannotDo if the channel has none of that id. */
export async function existingUser(store: Store, slug: string, id: string): Promise<User> {
  await existingChannel(store, slug);
  const user = await store.findUser(slug, id);
  if (user === null) throw new CannotDo(`Cannot find user ${id}: channel ${slug} has none of that id`);
  return user;
}
