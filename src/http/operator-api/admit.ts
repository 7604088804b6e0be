import type { Channel } from "../../domain/channel.ts";
import { seesChannel } from "../../domain/operator.ts";
import type { Operator } from "../../domain/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { User } from "../../domain/user.ts";
import { UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";
import type { Endpoint } from "../endpoint.ts";
import type { RouteRequest } from "../route.ts";

/** Refuses an operator whose role or channels an endpoint is not for, before anything is read. */
export function operatorCheck({
  roles = [],
  scope,
}: Endpoint): (operator: Operator, slug: string | undefined) => void {
  return (operator, slug) => {
    if (!roles.includes(operator.role)) throw new Refusal("forbidden");
    if (scope === "installation" && operator.channels !== null) throw new Refusal("forbidden");
    if (slug !== undefined && !seesChannel(operator, slug)) throw new Refusal("forbidden");
  };
}

/** What an endpoint of the operator API finds by its path, after its body and its query are read; null: nothing. */
export function operatorFinder(
  { finds }: Endpoint,
  { store }: { store: Pick<Store, "channel" | "findUser" | "load" | "channelThread"> },
): ((incoming: RouteRequest) => Promise<object>) | null {
  switch (finds) {
    case "channel":
      return async ({ params: { slug = "" } }) => ({ channel: await existingChannel(store, slug) });
    case "user":
      return async ({ params: { slug = "", userId = "" } }) => ({
        user: await existingUser(store, slug, userId),
      });
    case "thread":
      return async ({ params: { slug = "", id = "" } }) => {
        await mustHaveThread(store, slug, id);
        return { thread: { slug, uid: id } };
      };
    case undefined:
    default:
      return null;
  }
}

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

/** Throws Refusal("not-found") unless it is a thread of this channel. */
async function mustHaveThread(
  store: Pick<Store, "channel" | "load" | "channelThread">,
  slug: string,
  uid: string,
): Promise<void> {
  await existingChannel(store, slug);
  const record = await orUnavailable(store.load(uid, 1, "active"));
  const isHere = record === null ? (await store.channelThread(slug, uid)) !== null : record.slug === slug;
  if (!isHere) throw new Refusal("not-found", "Unknown thread");
}

/**
 * A damaged record is not the caller's fault: the caller may retry once it is repaired. A newer record gets this answer
 * too.
 */
export async function orUnavailable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableRecord) throw new Refusal("unavailable");
    throw error;
  }
}
