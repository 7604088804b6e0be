import { DELETED_FENCE, holderOf } from "../../../domain/threads/fence.ts";
import type { DeletionStore, ErasedThread } from "../../../store/deletions.ts";
import { slotOf } from "../../engine.ts";
import type { Pair, Write } from "../../engine.ts";
import { bucketOf, HEADER, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { removeOutside } from "../threads/files.ts";
import { untilApplied } from "../until-applied.ts";

const OP = "deleted";
/** What the tombstone has. `lastFence`: for a repeat, which removes the hold and tells its holder. */
const { fence, op, deletedAtMs, lastFence, ...GONE_FIELDS } = HEADER;

/** A thread's content; its watchers are told of the deletion, and expire. */
const CONTENT = [
  tables.messages,
  tables.waiting,
  tables.runs,
  tables.runOrder,
  tables.parts,
  tables.uploads,
  tables.claims,
  tables.outbox,
  tables.aside,
];

/** The header becomes a tombstone, by an `op` as a commit does; everything else goes after that. */
export function eraseSteps({
  engine,
  codec,
  outside,
}: Pick<StepsContext, "engine" | "codec" | "outside">): Pick<
  DeletionStore,
  "eraseThread" | "eraseUnchanged"
> {
  /** Null: another revision than `ifRev`. Undefined: the thread has changed meanwhile. */
  async function erase(
    uid: string,
    atMs: number,
    ifRev: number | null,
  ): Promise<ErasedThread | null | undefined> {
    const key = tables.header.key(uid);
    const [[rev = null, heldBy = null, lastOp = null, lastHeldBy = null], watching] = await engine.read([
      { read: "fields", key, fields: [HEADER.rev, fence, op, lastFence] },
      { read: "range", key: tables.watchers.key(uid) },
    ]);
    const isDeleted = lastOp === OP;
    if (!isDeleted && ifRev !== null && ifRev !== Number(rev ?? 0)) return null;
    const held = (isDeleted ? lastHeldBy : heldBy) || null;
    const tombstone: Pair[] = [
      [deletedAtMs, String(atMs)],
      [fence, `${DELETED_FENCE}${rev ?? 0}`],
      [op, OP],
    ];
    if (held !== null) tombstone.unshift([lastFence, held]);
    const { type } = await engine.apply({
      slot: slotOf(key),
      checks: [fieldIs(key, HEADER.rev, rev), fieldIs(key, op, lastOp), fieldIs(key, fence, heldBy)],
      writes: [{ write: "set", key, fields: tombstone }],
      op: { key, field: op, value: OP },
      after: erasingWrites(uid, held),
    });
    // Another process may have deleted it meanwhile: what held it then is read again.
    if (type === "failed" || (type === "repeated" && !isDeleted)) return undefined;
    return { fence: held, watchers: watching.map(([processId]) => processId) };
  }

  return {
    async eraseThread(uid, atMs) {
      codec.forgetThread(uid);
      const erased = await untilApplied(`erase thread ${uid}`, () => erase(uid, atMs, null));
      if (erased === null) throw new Error(`Cannot erase thread ${uid}: a revision was compared`);
      await removeOutside(outside, uid);
      return erased;
    },

    async eraseUnchanged(uid, atMs, rev) {
      const erased = await untilApplied(`erase thread ${uid}`, () => erase(uid, atMs, rev));
      if (erased) await removeOutside(outside, uid);
      return erased;
    },
  };
}

function erasingWrites(uid: string, held: string | null): Write[] {
  const bucket = bucketOf(uid);
  const writes: Write[] = CONTENT.map((table) => ({ write: "drop", key: table.key(uid) }));
  writes.push({ write: "take", key: tables.due.key(bucket), members: [uid] });
  if (held !== null) {
    writes.push({ write: "remove", key: tables.held.key(bucket, holderOf(held)), fields: [uid] });
  }
  writes.push({ write: "remove", key: tables.header.key(uid), fields: Object.values(GONE_FIELDS) });
  return writes;
}
