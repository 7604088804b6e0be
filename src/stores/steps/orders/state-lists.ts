import type { ThreadState } from "../../../store/threads.ts";
import { BUSY_STATES } from "../../busy-states.ts";
import { slotOf } from "../../engine.ts";
import type { Engine, Member, Write } from "../../engine.ts";
import { HEADER, tables } from "../../tables.ts";
import { isDeletedOwner } from "./owners.ts";

/** What a process knows of a thread that the orders are to say. */
export interface Standing {
  state: ThreadState;
  /** Its last activity; 0: unknown. */
  atMs: number;
  /** It did not exist the last time: its first commit was in progress, or it is deleted. */
  wasMissed: boolean;
}

const AT_ONCE = 500;
const ORDER = { name: "order" };

/**
 * Raises the threads to their last activity, puts those that are not idle into the lists of their states, and removes all
 * from the others. Resolves to the threads of these lists that do not exist.
 */
export async function arrange(
  engine: Engine,
  slug: string,
  threads: ReadonlyMap<string, Standing>,
): Promise<ReadonlySet<string>> {
  const activity = tables.activity.key(slug);
  const uids = [...threads.keys()];
  const reads = [
    { read: "fields", key: tables.owners.key(slug), fields: uids },
    { read: "scores", key: activity, members: uids },
  ] as const;
  const [owners, times] = await engine.read(reads, ORDER);
  // A deleted thread must not come back into an order.
  const there = [...threads]
    .map(([uid, { state, atMs }], nth) => ({ uid, state, atMs: Math.max(atMs, times[nth] ?? 0), nth }))
    .filter(({ nth }) => !isDeletedOwner(owners[nth] ?? null));
  const lists = BUSY_STATES.map((state) => {
    const members = there.flatMap((one): Member[] => (one.state === state ? [[one.uid, one.atMs]] : []));
    return { state, key: tables.busy.key(slug, state), members };
  });
  const active = there.flatMap(({ uid, atMs }): Member[] => (atMs > 0 ? [[uid, atMs]] : []));
  const writes = [
    { write: "put", key: activity, members: active, mode: "raise" },
    ...lists.map(({ key, members }) => ({ write: "put" as const, key, members })),
  ] satisfies Write[];
  const applied = await engine.apply({
    ...ORDER,
    slot: slotOf(activity),
    checks: [],
    writes: writes.filter(({ members }) => members.length > 0),
    reads: lists.map(({ key }) => ({ read: "scores" as const, key, members: uids })),
  });
  // Including those that were just added: another instance may have changed their state, and written that before.
  const listed = lists.map(({ state, members }, nth) => {
    const before = uids.filter((_, at) => applied.reads[nth]?.[at] !== null);
    return { state, uids: [...new Set([...before, ...members.map(([uid]) => uid)])] };
  });
  return takeOut(engine, slug, listed);
}

/** Raises threads to their last activity. A deleted one does not come back. */
export async function raiseIn(engine: Engine, slug: string, threads: ReadonlyMap<string, number>) {
  const uids = [...threads.keys()];
  const read = { read: "fields", key: tables.owners.key(slug), fields: uids } as const;
  const [owners] = await engine.read([read], ORDER);
  const members = [...threads].filter((_, nth) => !isDeletedOwner(owners[nth] ?? null));
  const key = tables.activity.key(slug);
  const writes: Write[] = [{ write: "put", key, members, mode: "raise" }];
  const step = { ...ORDER, slot: slotOf(key), checks: [], writes };
  if (members.length > 0) await engine.apply(step, { durable: false });
}

/** Removes all threads that are not in the state of their list, such as those that a dead process has left. */
export async function tidyStates(engine: Engine): Promise<void> {
  const [channels] = await engine.read([{ read: "hash", key: tables.channels.key }]);
  for (const [slug] of channels) {
    for (const state of BUSY_STATES) {
      for await (const page of engine.memberPages(tables.busy.key(slug, state))) {
        const uids = page.map(([uid]) => uid);
        for (let i = 0; i < uids.length; i += AT_ONCE) {
          await takeOut(engine, slug, [{ state, uids: uids.slice(i, i + AT_ONCE) }]);
        }
      }
    }
  }
}

/** What is known here may be old, so the threads themselves are read. Resolves to those that do not exist. */
async function takeOut(
  engine: Engine,
  slug: string,
  listed: readonly { state: ThreadState; uids: readonly string[] }[],
): Promise<ReadonlySet<string>> {
  const states = new Map<string, string | null>();
  await Promise.all(
    [...new Set(listed.flatMap(({ uids }) => uids))].map(async (uid) => {
      const key = tables.header.key(uid);
      const read = { read: "fields", key, fields: [HEADER.state] } as const;
      const [[state = null]] = await engine.read([read], ORDER);
      states.set(uid, state);
    }),
  );
  const writes = listed
    .map(({ state, uids }) => ({
      write: "take" as const,
      key: tables.busy.key(slug, state),
      members: uids.filter((uid) => states.get(uid) !== state),
    }))
    .filter(({ members }) => members.length > 0);
  const [first] = writes;
  if (first) await engine.apply({ ...ORDER, slot: slotOf(first.key), checks: [], writes });
  return new Set([...states].flatMap(([uid, state]) => (state === null ? [uid] : [])));
}
