import { CHANGES_KEPT_MS } from "../../store/channel-threads.ts";
import type { ThreadPlace } from "../../store/users.ts";
import type { ThreadState } from "../../store/threads.ts";
import { isNumber, isText, kindOf, shape } from "../checks.ts";
import { isThreadState, readNumber, readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";

/** The user that a thread belongs to, and that user's name for it. */
interface OwnerRecord {
  userId: string;
  name: string;
}

export const ownerKind = kindOf("owner of a thread", shape<OwnerRecord>({ userId: isText, name: isText }));

/** A thread that is not idle, and the activity by which it is sorted among those of its state. */
interface BusyRecord {
  state: ThreadState;
  atMs: number;
}

export const busyKind = kindOf(
  "thread that is not idle",
  shape<BusyRecord>({ state: isThreadState, atMs: isNumber }),
);

/** How far the orders are filled with the records of earlier versions (fill-orders.ts). */
export const FILLED: Key = ["filled"];
export const FILLED_ALL = "done, states too";
/** Written by a version without orders by state. */
export const FILLED_BUT_STATES = "done";

export function isFilled(db: Pick<EmbeddedDb, "get">, ends: readonly string[] = [FILLED_ALL]): boolean {
  return ends.includes(db.get(FILLED, readText) ?? "");
}

/** Old changes removed with each new one: more than one, so that they get fewer after a busy day. */
const DROPPED_AT_ONCE = 2;

/** What a channel stores about its threads: their last activity, state and owners. Within a read or a change. */
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
  const busyKey = (slug: string, uid: string): Key => ["busy", keyPart(slug), keyPart(uid)];
  const stateKey = (slug: string, uid: string, { state, atMs }: BusyRecord): Key => [
    "busyat",
    keyPart(slug),
    state,
    atMs,
    keyPart(uid),
  ];
  const ownerKey = (slug: string, uid: string): Key => ["whose", keyPart(slug), keyPart(uid)];

  const activity = (slug: string, uid: string) => db.get(activityKey(slug, uid), readNumber);

  /** Call it after putActivity: a thread is sorted by its activity among those of its state. */
  function putState(slug: string, uid: string, state: ThreadState): void {
    const known = db.get(busyKey(slug, uid), busyKind.read);
    const atMs = activity(slug, uid) ?? 0;
    if (known?.state === state && known.atMs === atMs) return;
    if (known) db.remove(stateKey(slug, uid, known));
    if (state === "idle") {
      if (known) db.remove(busyKey(slug, uid));
      return;
    }
    db.put(busyKey(slug, uid), busyKind.stored({ state, atMs }));
    db.put(stateKey(slug, uid, { state, atMs }), uid);
  }

  return {
    putState,

    /** The thread's last activity; undefined: not stored yet. */
    activity,

    putActivity(slug: string, uid: string, atMs: number): void {
      const before = activity(slug, uid);
      if (before !== undefined && before !== atMs) db.remove(placeKey(slug, before, uid));
      db.put(activityKey(slug, uid), atMs);
      db.put(placeKey(slug, atMs, uid), uid);
      const busy = db.get(busyKey(slug, uid), busyKind.read);
      if (busy) putState(slug, uid, busy.state);
    },

    /** The latest first, from a time or behind a place; all threads, or those in a state other than idle. */
    *byActivity(
      slug: string,
      from: ThreadPlace | { untilMs: number },
      state?: ThreadState,
    ): Iterable<ThreadPlace> {
      const all: Key = state === undefined ? ["acts", keyPart(slug)] : ["busyat", keyPart(slug), state];
      const first: Key =
        "uid" in from
          ? [...all, from.atMs, keyPart(from.uid)]
          : [...all, Math.min(from.untilMs, Number.MAX_SAFE_INTEGER - 1) + 1];
      for (const { key, value } of db.range(all, readText, { from: first, reverse: true })) {
        const atMs = Number(key[all.length]);
        const isPlace = "uid" in from && value === from.uid && atMs === from.atMs;
        if (!isPlace) yield { atMs, uid: value };
      }
    },

    /** The longest inactive first, behind a place. */
    *oldest(slug: string, after: ThreadPlace | null): Iterable<ThreadPlace> {
      const all: Key = ["acts", keyPart(slug)];
      const from: Key = after === null ? all : [...all, after.atMs, keyPart(after.uid)];
      for (const { key, value } of db.range(all, readText, { from })) {
        const atMs = Number(key[all.length]);
        if (value !== after?.uid || atMs !== after.atMs) yield { atMs, uid: value };
      }
    },

    /** For a state that changed without a message. */
    putChange(slug: string, uid: string, atMs: number): void {
      db.put(changeKey(slug, atMs, uid), uid);
      const oldest = [...db.range(["chg", keyPart(slug)], readText, { limit: DROPPED_AT_ONCE })];
      for (const { key } of oldest) if (Number(key[2]) < atMs - CHANGES_KEPT_MS) db.remove(key);
    },

    /** The latest first, back to a time, including deleted threads. */
    *changes(slug: string, sinceMs: number): Iterable<ThreadPlace> {
      for (const { key, value } of db.range(["chg", keyPart(slug)], readText, { reverse: true })) {
        const atMs = Number(key[2]);
        if (atMs < sinceMs) return;
        yield { atMs, uid: value };
      }
    },

    /**
     * Removes these threads from the orders. Their changes expire after a day; finding them would mean reading all
     * changes.
     */
    forget(slug: string, uids: readonly string[]): void {
      for (const uid of uids) {
        putState(slug, uid, "idle");
        const atMs = activity(slug, uid);
        if (atMs !== undefined) db.remove(placeKey(slug, atMs, uid));
        db.remove(activityKey(slug, uid));
        db.remove(ownerKey(slug, uid));
      }
    },

    owner: (slug: string, uid: string) => db.get(ownerKey(slug, uid), ownerKind.read),
    putOwner: (slug: string, uid: string, owner: OwnerRecord) =>
      db.put(ownerKey(slug, uid), ownerKind.stored(owner)),
  };
}
