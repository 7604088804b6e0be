import { BUSY_STATES } from "../../busy-states.ts";
import type { Member, Write } from "../../engine.ts";
import { tables } from "../../tables.ts";
import { deletedOwner } from "../orders/owners.ts";

/** A thread among what was deleted (tables.gone). */
export const goneThread = (uid: string) => `t ${uid}`;
export const goneUser = (userId: string) => `u ${userId}`;

/** The threads among these. */
export function threadsAmong(gone: readonly Member[]): string[] {
  return gone.flatMap(([member]) => (member.startsWith("t ") ? [member.slice(2)] : []));
}

/** Removes threads from the channel's orders; the list of owners says from then on that they were deleted. */
export function unlistingWrites(slug: string, uids: readonly string[], atMs: number): Write[] {
  if (uids.length === 0) return [];
  const orders = [
    tables.activity.key(slug),
    tables.changed.key(slug),
    ...BUSY_STATES.map((state) => tables.busy.key(slug, state)),
  ];
  return [
    ...orders.map((key): Write => ({ write: "take", key, members: uids })),
    { write: "set", key: tables.owners.key(slug), fields: uids.map((uid) => [uid, deletedOwner(atMs)]) },
  ];
}
