import { isReadable } from "../checks.ts";
import { readText } from "../records.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import { glanceAt } from "./thread-list.ts";
import type { ThreadRecords } from "./thread-records.ts";
import { FILLED, FILLED_ALL, FILLED_BUT_STATES, isFilled } from "./thread-orders.ts";
import { threadNameKind, userKind } from "./user-records.ts";
import type { UserRecords } from "./user-records.ts";

/*
 * Fills the orders with the records of versions that did not write them, in one walk over all names of threads, and
 * one over all users. ["filled"] has the key to continue from; in the end it is done for good, since later writes
 * update the orders.
 */
const AT_ONCE = 200;
const KINDS = ["n", "u"] as const;

/** False: everything is filled. Damaged records are skipped: setting them aside, or a check, deals with them. */
export async function fillOrders(
  db: EmbeddedDb,
  { users, threads }: { users: UserRecords; threads: ThreadRecords },
): Promise<boolean> {
  // Checked outside the change, so that not every call is a write.
  if (isFilled(db)) return false;
  return db.change("fill the orders of threads", () => {
    const mark = db.get(FILLED, readText);
    if (mark === FILLED_ALL) return false;
    const [kind, ...last]: Key =
      mark === undefined || mark === FILLED_BUT_STATES ? [KINDS[0]] : keyFrom(mark);
    const from: Key = [kind ?? KINDS[0], ...last];
    const page = [...db.range([from[0] ?? ""], (value) => value, { from, limit: AT_ONCE + 1 })];
    for (const { key, value } of page.slice(0, AT_ONCE)) {
      if (kind === "n") fillThread(threads, key, value);
      else fillUser(users, key, value);
    }
    const next = page[AT_ONCE]?.key;
    if (next) db.put(FILLED, JSON.stringify(next));
    else db.put(FILLED, kind === "n" ? JSON.stringify(["u"]) : FILLED_ALL);
    return true;
  });
}

function keyFrom(mark: string): Key {
  const parts: unknown = JSON.parse(mark);
  if (!Array.isArray(parts)) throw new Error(`Cannot go on filling the orders of threads: ${mark} is no key`);
  return parts.map((part: unknown) => (typeof part === "number" ? part : String(part)));
}

/** Slugs and user ids are short and plain, so the key has them unchanged. */
function fillThread(threads: ThreadRecords, key: Key, value: unknown): void {
  const { orders } = threads;
  const [slug, userId] = [String(key[1]), String(key[2])];
  if (!isReadable(() => threadNameKind.read(value, key))) return;
  const { uid, name, createdAtMs } = threadNameKind.read(value, key);
  orders.putOwner(slug, uid, { userId, name });
  const known = orders.activity(slug, uid) ?? 0;
  const { updatedAtMs, state } = glanceAt(threads, { uid, threadId: name, createdAtMs });
  orders.putActivity(slug, uid, Math.max(known, updatedAtMs));
  orders.putState(slug, uid, state);
}

function fillUser(users: UserRecords, key: Key, value: unknown): void {
  if (!isReadable(() => userKind.read(value, key))) return;
  users.listBlocked(String(key[1]), userKind.read(value, key));
}
