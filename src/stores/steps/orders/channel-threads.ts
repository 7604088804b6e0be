import type { ChannelThreadStore, PlacedThread } from "../../../store/channel-threads.ts";
import { pageOf } from "../../../store/page.ts";
import { tables } from "../../tables.ts";
import { readThreadPlace, threadPlaceText } from "./thread-place.ts";
import type { StepsContext } from "../context.ts";
import { glanceAt, openedGlance } from "../threads/glance.ts";
import type { OrderWrites } from "./order-writes.ts";
import { ownedThread, ownersOf } from "./owners.ts";
import { placesBehind } from "./places.ts";

/**
 * A channel's threads: an order selects a page, the list of owners names the users, and each thread is read for what is
 * shown of it. The first two only say where to look: the names of a user decide whose a thread is.
 */
export function channelThreadSteps(
  { engine, codec }: StepsContext,
  { met }: Pick<OrderWrites, "met">,
): Pick<ChannelThreadStore, "channelThreads" | "channelThread" | "changedThreads"> {
  async function shown(slug: string, uid: string, owner: string | null) {
    const owned = await ownedThread(engine, slug, uid, owner);
    if (!owned) return null;
    const thread = await glanceAt(engine, owned);
    return codec.read(uid, (open) => openedGlance(thread, open));
  }

  return {
    async channelThreads(slug, { limit, after: place, state, ...times }) {
      const after = place === null ? null : readThreadPlace(place);
      if (place !== null && after === null) return { items: [], next: null };
      const isByState = state !== undefined && state !== "idle";
      const order = isByState ? tables.busy.key(slug, state) : tables.activity.key(slug);
      const found = await placesBehind(engine, order, { ...times, after, limit: limit + 1 });
      const { items, next } = pageOf(
        found.map((one) => ({ ...one, place: threadPlaceText(one) })),
        limit,
      );
      const owners = await ownersOf(
        engine,
        slug,
        items.map(({ uid }) => uid),
      );
      const threads = await Promise.all(
        items.map(async ({ uid, atMs, place }, nth): Promise<PlacedThread | null> => {
          const thread = await shown(slug, uid, owners[nth] ?? null);
          const listedAs = isByState ? state : "idle";
          if (thread && (thread.state !== listedAs || thread.updatedAtMs > atMs)) met(slug, thread);
          if (!thread && isByState) met(slug, { uid, state: "idle", updatedAtMs: 0 });
          return thread && { ...thread, place };
        }),
      );
      const wanted = (thread: PlacedThread | null): thread is PlacedThread =>
        thread !== null && (state ?? thread.state) === thread.state;
      return { items: threads.filter(wanted), next };
    },

    async channelThread(slug, uid) {
      const [owner = null] = await ownersOf(engine, slug, [uid]);
      return shown(slug, uid, owner);
    },

    async changedThreads(slug, { sinceMs, limit }) {
      const orders = [tables.activity.key(slug), tables.changed.key(slug)];
      const found = await engine.read(
        orders.map((key) => ({ read: "range" as const, key, from: sinceMs, reverse: true, limit })),
      );
      const latest = new Map<string, number>();
      for (const [uid, atMs] of found.flat()) latest.set(uid, Math.max(latest.get(uid) ?? 0, atMs));
      return [...latest]
        .map(([uid, atMs]) => ({ uid, atMs }))
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, limit);
    },
  };
}
