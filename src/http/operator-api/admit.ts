import type { OperatorAdmission } from "../../admission/operator-admission.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import { seesChannel } from "../../domain/people/operator.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { User } from "../../domain/people/user.ts";
import { UnreadableRecord } from "../../store.ts";
import type { Store } from "../../store.ts";
import { keyed } from "../endpoint-route.ts";
import type { HandleOf } from "../endpoint-route.ts";
import type { Endpoint } from "../endpoint.ts";
import type { RouteRequest } from "../route.ts";

/** The order of the operator API's checks: the declared length, the key, the role and the channels, the body. */
export function operatorHandleOf({
  admission,
  store,
  clock,
  config,
}: {
  admission: OperatorAdmission;
  store: Store;
  clock: Clock;
  config: Pick<Config, "serverMaxBodyBytes">;
}): HandleOf<"operatorKey"> {
  return (endpoint) => {
    const { roles = [], scope } = endpoint;
    const find = finderOf(endpoint, store);
    return keyed(endpoint, {
      limitBytes: config.serverMaxBodyBytes,
      admit(incoming) {
        const caller = admission.admit(incoming);
        const slug = incoming.params["slug"];
        if (!roles.includes(caller.role)) throw new Refusal("forbidden");
        if (scope === "installation" && caller.channels !== null) throw new Refusal("forbidden");
        if (slug !== undefined && !seesChannel(caller, slug)) throw new Refusal("forbidden");
        return caller;
      },
      find: async (incoming, _, { name }) => ({
        acting: { store, clock, operator: name },
        ...(find && (await find(incoming))),
      }),
    });
  };
}

/** What an endpoint finds by its path, after its body and its query are read; null: nothing. */
function finderOf({ finds }: Endpoint, store: Store): ((incoming: RouteRequest) => Promise<object>) | null {
  switch (finds) {
    case "channel":
      return async ({ params: { slug = "" } }) => ({ channel: await existingChannel(store, slug) });
    case "user":
      return async ({ params: { slug = "", userId = "" } }) => ({
        user: await existingUser(store, slug, userId),
      });
    case "thread":
      return async ({ params: { slug = "", id: uid = "" } }) => {
        await mustHaveThread(store, slug, uid);
        return { thread: { slug, uid } };
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
 * too. Only the command line is told which one it is (command-line.ts).
 */
export async function orUnavailable<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof UnreadableRecord) throw new Refusal("unavailable", error.message);
    throw error;
  }
}
