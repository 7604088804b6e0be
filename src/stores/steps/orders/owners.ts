import type { ThreadEntry } from "../../../store/users.ts";
import type { Engine } from "../../engine.ts";
import { tables } from "../../tables.ts";
import { threadEntryFrom } from "../users/user-record.ts";

export type OwnedThread = ThreadEntry & { userId: string };

const DELETED = "deleted ";

/** The owner of a thread that was deleted then, as it is stored. */
export const deletedOwner = (atMs: number) => `${DELETED}${atMs}`;

export const isDeletedOwner = (owner: string | null) => owner?.startsWith(DELETED) ?? false;

/** The user that the list of owners names, and the user's name for the thread; null: none, or the thread was deleted. */
export function ownerFrom(owner: string | null): { userId: string; name: string } | null {
  if (owner === null || isDeletedOwner(owner)) return null;
  const space = owner.indexOf(" ");
  return { userId: owner.slice(0, space), name: owner.slice(space + 1) };
}

/** What the list of owners says of these threads. */
export async function ownersOf(
  engine: Engine,
  slug: string,
  uids: readonly string[],
): Promise<(string | null)[]> {
  if (uids.length === 0) return [];
  const [owners] = await engine.read([{ read: "fields", key: tables.owners.key(slug), fields: uids }]);
  return owners;
}

/** The thread, if the names of the user that the list says have it; null: no user has it. */
export async function ownedThread(
  engine: Engine,
  slug: string,
  uid: string,
  owner: string | null,
): Promise<OwnedThread | null> {
  const found = ownerFrom(owner);
  if (!found) return null;
  const { userId, name } = found;
  const [[text]] = await engine.read([
    { read: "fields", key: tables.names.key(slug, userId), fields: [name] },
  ]);
  const entry = text ? threadEntryFrom(name, text) : null;
  return entry?.uid === uid ? { ...entry, userId } : null;
}
