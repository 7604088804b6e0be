import { CHANGES_KEPT_MS } from "../../store/channel-threads.ts";
import type { ThreadPlace } from "../../store/users.ts";
import { isText, kindOf, shape } from "../checks.ts";
import { readNumber, readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";

/** Whose a thread is, and that user's name for it. */
interface OwnerRecord {
  userId: string;
  name: string;
}

export const ownerKind = kindOf("owner of a thread", shape<OwnerRecord>({ userId: isText, name: isText }));

/** How far what earlier versions wrote is in the orders (fill-orders.ts). */
export const FILLED: Key = ["filled"];
export const FILLED_ALL = "done";

export function isFilled(db: Pick<EmbeddedDb, "get">): boolean {
  return db.get(FILLED, readText) === FILLED_ALL;
}

/** Old changes that go with a new one: more than one, so that they get fewer after a busy day. */
const DROPPED_AT_ONCE = 2;

export type ThreadOrders = ReturnType<typeof threadOrders>;

/** What a channel knows of its threads beside the threads: when each was active, whose it is. Within a read or a change. */
export function threadOrders(db: EmbeddedDb) {
  const activityKey = (slug: string, uid: string): Key => ["act", keyPart(slug), keyPart(uid)];
  const placeKey = (slug: string, atMs: number, uid: string): Key => [
    "acts",
    keyPart(slug),
    atMs,
    keyPart(uid),
  ];
  const changeKey = (slug: string, atMs: number, uid: string): Key => [
    "chg",
    keyPart(slug),
    atMs,
    keyPart(uid),
  ];
  const ownerKey = (slug: string, uid: string): Key => ["whose", keyPart(slug), keyPart(uid)];

  const activity = (slug: string, uid: string) => db.get(activityKey(slug, uid), readNumber);

  return {
    /** When an item entered the history last; undefined: nobody has written it down yet. */
    activity,

    putActivity(slug: string, uid: string, atMs: number): void {
      const before = activity(slug, uid);
      if (before !== undefined && before !== atMs) db.remove(placeKey(slug, before, uid));
      db.put(activityKey(slug, uid), atMs);
      db.put(placeKey(slug, atMs, uid), uid);
    },

    /** The latest first, from a time, or behind a place, on. */
    *byActivity(slug: string, from: ThreadPlace | { untilMs: number }): Iterable<ThreadPlace> {
      const first: Key =
        "uid" in from
          ? placeKey(slug, from.atMs, from.uid)
          : ["acts", keyPart(slug), Math.min(from.untilMs, Number.MAX_SAFE_INTEGER - 1) + 1];
      const found = db.range(["acts", keyPart(slug)], readText, { from: first, reverse: true });
      for (const { key, value } of found) {
        const isPlace = "uid" in from && value === from.uid && Number(key[2]) === from.atMs;
        if (!isPlace) yield { atMs: Number(key[2]), uid: value };
      }
    },

    /** Its state changed without a message. */
    putChange(slug: string, uid: string, atMs: number): void {
      db.put(changeKey(slug, atMs, uid), uid);
      const oldest = [...db.range(["chg", keyPart(slug)], readText, { limit: DROPPED_AT_ONCE })];
      for (const { key } of oldest) if (Number(key[2]) < atMs - CHANGES_KEPT_MS) db.remove(key);
    },

    /** The latest first. */
    *changes(slug: string): Iterable<ThreadPlace> {
      for (const { key, value } of db.range(["chg", keyPart(slug)], readText, { reverse: true })) {
        yield { atMs: Number(key[2]), uid: value };
      }
    },

    /** Everything that the channel knows of these threads. */
    forget(slug: string, uids: readonly string[]): void {
      if (uids.length === 0) return;
      const gone = new Set(uids);
      for (const uid of uids) {
        const atMs = activity(slug, uid);
        if (atMs !== undefined) db.remove(placeKey(slug, atMs, uid));
        db.remove(activityKey(slug, uid));
        db.remove(ownerKey(slug, uid));
      }
      const changes = [...db.range(["chg", keyPart(slug)], readText)];
      for (const { key, value } of changes) if (gone.has(value)) db.remove(key);
    },

    owner: (slug: string, uid: string) => db.get(ownerKey(slug, uid), ownerKind.read),
    putOwner: (slug: string, uid: string, owner: OwnerRecord) =>
      db.put(ownerKey(slug, uid), ownerKind.stored(owner)),
  };
}
