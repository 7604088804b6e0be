import type { Channel } from "../../domain/channel.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { User } from "../../domain/user.ts";
import { UnreadableRecord } from "../../store.ts";
import type { ChannelThread, Store } from "../../store.ts";

/** The channel. Throws Refusal("not-found"), or Refusal("unavailable") if its record cannot be read. */
export async function existingChannel(store: Pick<Store, "channel">, slug: string): Promise<Channel> {
  const channel = await orUnavailable(store.channel(slug));
  if (channel === null) throw new Refusal("not-found", "Unknown channel");
  return channel;
}

/** A user of a channel, by our id or the caller's. Throws Refusal("not-found"). */
export async function existingUser(
  store: Pick<Store, "channel" | "findUser">,
  slug: string,
  id: string,
): Promise<User> {
  await existingChannel(store, slug);
  const user = await store.findUser(slug, id);
  if (user === null) throw new Refusal("not-found", "Unknown user");
  return user;
}

/** The id of a thread of this channel. Throws Refusal("not-found"). */
export async function existingThread(
  store: Pick<Store, "channel" | "load" | "channelThread">,
  slug: string,
  uid: string,
): Promise<string> {
  await existingChannel(store, slug);
  const record = await orUnavailable(store.load(uid, 1, "active"));
  const isHere = record === null ? (await store.channelThread(slug, uid)) !== null : record.slug === slug;
  if (!isHere) throw new Refusal("not-found", "Unknown thread");
  return uid;
}

/** A thread of this channel, and its owner. Throws Refusal("not-found"). */
export async function existingChannelThread(
  store: Pick<Store, "channel" | "channelThread" | "look">,
  slug: string,
  uid: string,
): Promise<{ thread: ChannelThread; messageCount: number }> {
  await existingChannel(store, slug);
  const [thread, look] = await orUnavailable(
    Promise.all([store.channelThread(slug, uid), store.look(uid, null)]),
  );
  if (thread === null) throw new Refusal("not-found", "Unknown thread");
  return { thread, messageCount: look.messageCount };
}

/**
 * A damaged record is not the caller's fault: the caller may retry once it is repaired. A newer record gets this answer
 * too. Only the command line is told which one it is (command-line.ts).
 */
async function orUnavailable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableRecord) throw new Refusal("unavailable", error.message);
    throw error;
  }
}
