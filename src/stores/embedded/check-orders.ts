import { isAtItsActivity } from "../backup/rules.ts";
import { isReadable } from "../checks.ts";
import { readNumber } from "../records.ts";
import type { Look } from "./look.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { keyPart } from "./db.ts";
import { glanceAt } from "./thread-list.ts";
import { busyKind, isFilled, ownerKind } from "./thread-orders.ts";
import { threadRecords } from "./thread-records.ts";
import { threadNameKind, userKind, userRecords } from "./user-records.ts";

/**
 * Checks a channel's orders: its threads by activity and by state, their owners, and the blocked users. Until they
 * have everything that earlier versions wrote (fill-orders.ts), they are not checked.
 */
export function looksAtOrders(db: EmbeddedDb, isNamed: (uid: string) => boolean) {
  const [threads, users] = [threadRecords(db), userRecords(db)];
  const { orders } = threads;
  const remove = (key: Key) => () => db.remove(key);
  const whenFilled =
    (look: Look): Look =>
    (key, value) =>
      isFilled(db) ? look(key, value) : null;

  /** No user has a name for it, and it has no header, or was deleted. */
  const isGone = (uid: string) =>
    !isNamed(uid) && (threads.isDeleted(uid) || threads.header(uid) === undefined);
  const isOwned = (slug: string, uid: string) => {
    const owner = orders.owner(slug, uid);
    return owner !== undefined && users.thread(slug, owner.userId, owner.name)?.uid === uid;
  };

  /** A user's name for a thread: checks that the lists have the thread in the right place. */
  const name = whenFilled((key, value) => {
    if (!isReadable(() => threadNameKind.read(value, key))) return null;
    const [slug, userId] = [String(key[1]), String(key[2])];
    const { uid, name: threadId, createdAtMs } = threadNameKind.read(value, key);
    if (!isOwned(slug, uid)) {
      const mend = () => orders.putOwner(slug, uid, { userId, name: threadId });
      return { rule: "owner of a thread is not listed", mend };
    }
    const { updatedAtMs, state } = glanceAt(threads, { uid, threadId, createdAtMs });
    const atMs = orders.activity(slug, uid);
    const isPlaced = atMs !== undefined && db.has(["acts", slug, atMs, keyPart(uid)]);
    if (!isPlaced || !isAtItsActivity(atMs, updatedAtMs)) {
      const mend = () => orders.putActivity(slug, uid, updatedAtMs);
      return { rule: "thread is not at its last activity", mend };
    }
    const busy = db.get(["busy", slug, keyPart(uid)], busyKind.read);
    // Listed under another state: reported at that entry.
    if (state === "idle" || (busy && busy.state !== state)) return null;
    const isListed = busy && db.has(["busyat", slug, state, busy.atMs, keyPart(uid)]);
    if (isListed && isAtItsActivity(busy.atMs, updatedAtMs)) return null;
    const mend = () => {
      orders.putState(slug, uid, "idle");
      orders.putState(slug, uid, state);
    };
    return { rule: "thread is not listed by its state", mend };
  });

  const activity = whenFilled((key, atMs) => {
    const [slug, uid] = [String(key[1]), String(key[2])];
    if (isOwned(slug, uid) || !isGone(uid)) return null;
    const mend = () => {
      db.remove(["acts", slug, Number(atMs), uid]);
      db.remove(key);
    };
    return { rule: "listed thread is not there", mend };
  });

  /** Its place in the list; each thread has one. */
  const place = whenFilled((key) => {
    const [, slug = "", atMs, uid = ""] = key;
    return db.get(["act", slug, uid], readNumber) === atMs
      ? null
      : { rule: "listed thread is not there", mend: remove(key) };
  });

  const busy = whenFilled((key, value) => {
    const [slug, uid] = [String(key[1]), String(key[2])];
    const { state } = busyKind.read(value, key);
    const now = threads.header(uid)?.state ?? "idle";
    return now === state
      ? null
      : {
          rule: "thread is listed by a state that it is not in",
          mend: () => orders.putState(slug, uid, now),
        };
  });

  const busyPlace = whenFilled((key) => {
    const [, slug = "", state, atMs, uid = ""] = key;
    const known = db.get(["busy", slug, uid], busyKind.read);
    return known !== undefined && known.state === state && known.atMs === atMs
      ? null
      : { rule: "thread is listed by a state that it is not in", mend: remove(key) };
  });

  /** Threads without a name have a rule of their own. */
  const owner = whenFilled((key, value) => {
    const [slug, uid] = [String(key[1]), String(key[2])];
    const { userId, name: threadId } = ownerKind.read(value, key);
    const isOwner = users.thread(slug, userId, threadId)?.uid === uid;
    return isOwner || !isGone(uid) ? null : { rule: "listed owner is of no thread", mend: remove(key) };
  });

  const blockedPlace = (slug: string, createdAtMs: number, userId: string): Key => [
    "bl",
    keyPart(slug),
    createdAtMs,
    keyPart(userId),
  ];

  const user = whenFilled((key, value) => {
    if (!isReadable(() => userKind.read(value, key))) return null;
    const { user: one, createdAtMs } = userKind.read(value, key);
    const listed = blockedPlace(String(key[1]), createdAtMs, one.userId);
    if (!one.blocked || db.has(listed)) return null;
    return { rule: "blocked user is not listed", mend: () => db.put(listed, one.userId) };
  });

  const blocked = whenFilled((key, value) => {
    const found = users.user(String(key[1]), String(value));
    const isListed = found?.user.blocked === true && found.createdAtMs === key[2];
    return isListed ? null : { rule: "listed user is not blocked", mend: remove(key) };
  });

  const lists: [kind: string, look: Look][] = [
    ["act", activity],
    ["acts", place],
    ["busy", busy],
    ["busyat", busyPlace],
    ["whose", owner],
    ["bl", blocked],
  ];
  return { name, user, lists };
}
