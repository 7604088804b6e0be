import { DELETED_FENCE } from "../../domain/threads/fence.ts";
import { BUSY_STATES } from "../busy-states.ts";
import type { Engine } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { ownerFrom, ownersOf } from "../steps/orders/owners.ts";
import { uidFrom } from "../steps/users/user-record.ts";
import { HEADER, tables } from "../tables.ts";
import { fieldsChecker, membersChecker, mending, remove, take } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** Until its deletion is finished, an instance that was using a thread may list it again. */
const DELETING_MS = 60_000;
const DELETED = "deleted ";

export function isBeingDeleted(owner: string | null, nowMs: number): boolean {
  return (
    owner !== null && owner.startsWith(DELETED) && nowMs - Number(owner.slice(DELETED.length)) < DELETING_MS
  );
}

/**
 * Rules for a channel's orders: its threads by activity and by state, and their owners. They only say where to look; names
 * and threads say what is true.
 */
export function orderCheckers(
  engine: Engine,
  nowMs: () => number,
): Record<"activity" | "busy" | "owners", Checker[]> {
  /** Threads that the names of their listed owners do not have, and that are not there. */
  async function goneAmong(slug: string, owners: readonly (readonly [uid: string, owner: string | null])[]) {
    const listed = owners.map(([uid, text]) => ({ uid, text, owner: ownerFrom(text) }));
    const entries = await engine.read(
      listed.map(({ owner }) => ({
        read: "fields" as const,
        key: tables.names.key(slug, owner?.userId ?? ""),
        fields: [owner?.name ?? ""],
      })),
    );
    const unowned = listed.filter(({ uid }, nth) => {
      const entry = entries[nth]?.[0] ?? null;
      return entry === null || uidFrom(entry) !== uid;
    });
    const isGone = await Promise.all(
      unowned.map(async ({ uid }) => {
        const key = tables.header.key(uid);
        const [isThere, [fence]] = await engine.read([
          { read: "exists", key },
          { read: "fields", key, fields: [HEADER.fence] },
        ]);
        return !isThere || (fence?.startsWith(DELETED_FENCE) ?? false);
      }),
    );
    return unowned.filter((_, nth) => isGone[nth]);
  }

  const activity = membersChecker(engine, async ({ key, tag: slug }, members) => {
    const uids = members.map(([uid]) => uid);
    const listed = await ownersOf(engine, slug, uids);
    const settled = uids
      .map((uid, nth) => [uid, listed[nth] ?? null] as const)
      .filter(([, owner]) => !isBeingDeleted(owner, nowMs()));
    return (await goneAmong(slug, settled)).map(({ uid, text }) => ({
      rule: "listed thread is not there",
      what: `${key} ${uid}`,
      entry: uid,
      unnamed: uid,
      mend: mending(engine, [fieldIs(tables.owners.key(slug), uid, text)], take(key, uid)),
    }));
  });

  const owners = fieldsChecker(engine, async ({ key, tag: slug }, pairs) => {
    const owned = pairs.filter(([, owner]) => ownerFrom(owner) !== null);
    return (await goneAmong(slug, owned)).map(({ uid, text }) => ({
      rule: "listed owner is of no thread",
      what: `${key} ${uid}`,
      entry: uid,
      unnamed: uid,
      mend: mending(engine, [fieldIs(key, uid, text)], remove(key, uid)),
    }));
  });

  const busy = membersChecker(engine, async ({ key, tag: slug, id: state }, members) => {
    // A later version may have further states.
    if (!BUSY_STATES.some((one) => one === state)) return [];
    const threads = await Promise.all(members.map(([uid]) => stateAndRevOf(uid)));
    const elsewhere = members.flatMap(([uid, atMs], nth) => {
      const { now = null, rev = null } = threads[nth] ?? {};
      return now === state ? [] : [{ uid, atMs, version: String(rev) }];
    });
    const uids = elsewhere.map(({ uid }) => uid);
    const listed = await ownersOf(engine, slug, uids);
    return elsewhere
      .filter((_, nth) => !isBeingDeleted(listed[nth] ?? null, nowMs()))
      .map(({ uid, atMs, version }): Fault => ({
        rule: "thread is listed by a state that it is not in",
        what: `${key} ${uid}`,
        entry: uid,
        version,
        settles: true,
        mend: mending(engine, [{ check: "score", key, member: uid, is: [atMs] }], take(key, uid)),
      }));
  });

  async function stateAndRevOf(uid: string) {
    const key = tables.header.key(uid);
    const [[now, rev]] = await engine.read([{ read: "fields", key, fields: [HEADER.state, HEADER.rev] }]);
    return { now, rev };
  }

  return { activity: [activity], owners: [owners], busy: [busy] };
}
