import { sealedEvent } from "../../content-keys/sealed-records.ts";
import type { Seal } from "../../content-keys/sealed-records.ts";
import type { Telling } from "../../../domain/channels/webhook.ts";
import type { ToldRef } from "../../../store/outbox.ts";
import type { Member, Pair, Read, Write } from "../../engine.ts";
import { bucketOf, tables } from "../../tables.ts";

/** More would mean that nobody has queued events for a while: then others do (OutboxStore.unqueued). */
const UNQUEUED_AT_ONCE = 256;

interface Told {
  uid: string;
  slug: string;
  atMs: number;
  /** How many events there were before. */
  told: number;
}

/** Stores events beside their thread, as not queued yet. They count only once the header says so (HEADER.told). */
export function tellingWrites(
  { uid, slug, atMs, told }: Told,
  tells: readonly Telling[],
  seal: Seal | null,
): { writes: Write[]; refs: ToldRef[] } {
  const events: Pair[] = [];
  const refs: ToldRef[] = [];
  for (const [index, { event, endpoints }] of tells.entries()) {
    const text = JSON.stringify(seal ? sealedEvent(event, seal) : event);
    const nth = String(told + index + 1);
    for (const endpoint of endpoints) {
      events.push([`${nth} ${endpoint}`, text]);
      refs.push({ slug, endpoint, uid, nth });
    }
  }
  if (refs.length === 0) return { writes: [], refs };
  const members = refs.map(({ nth, endpoint }) => [`${slug} ${uid} ${nth} ${endpoint}`, atMs] as const);
  return {
    writes: [
      { write: "set", key: tables.outbox.key(uid), fields: events },
      { write: "put", key: tables.unqueued.key(bucketOf(uid)), members },
    ],
    refs,
  };
}

export function unqueuedRead(uid: string): Read & { read: "range" } {
  return { read: "range", key: tables.unqueued.key(bucketOf(uid)), limit: UNQUEUED_AT_ONCE };
}

/** The thread's events among those that are not queued: of the first `told`, because others never happened. */
export function unqueuedOf({ uid, slug, told }: Omit<Told, "atMs">, members: readonly Member[]): ToldRef[] {
  const thread = `${slug} ${uid} `;
  return members
    .filter(([member]) => member.startsWith(thread))
    .map(([member]) => {
      const [nth = "", endpoint = ""] = member.slice(thread.length).split(" ");
      return { slug, endpoint, uid, nth };
    })
    .filter(({ nth }) => Number(nth) <= told)
    .sort((a, b) => Number(a.nth) - Number(b.nth));
}
