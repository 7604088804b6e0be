import type { Channel } from "../../domain/channel.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { User } from "../../domain/user.ts";
import { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";

/** The channel. Throws Refusal("not-found"), or Refusal("unavailable") where its record cannot be read. */
export async function existingChannel(store: Pick<Store, "channel">, slug: string): Promise<Channel> {
  const channel = await store.channel(slug).catch((error: unknown) => {
    if (error instanceof UnreadableRecord && !(error instanceof NewerRecord))
      throw new Refusal("unavailable");
    throw error;
  });
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
