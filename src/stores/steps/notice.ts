import { slotOf } from "../engine.ts";
import type { Engine, Write } from "../engine.ts";
import { tables } from "../tables.ts";
import { fieldIs } from "./field-is.ts";
import { inTurn } from "./in-turn.ts";
import { untilApplied } from "./until-applied.ts";

const { key } = tables.changes;
const COUNT = "count";
export const COUNT_OF_CHANGES = { read: "fields", key, fields: [COUNT] } as const;

/** The number of changes that every instance was told of. */
export async function changeCount(engine: Engine): Promise<number> {
  const [[count = null]] = await engine.read([COUNT_OF_CHANGES], { durable: false, name: "changeCount" });
  return Number(count ?? 0);
}

/**
 * Tells every instance that something it caches has changed. Call it after the change: if another process raises the count
 * at the same time, whoever reads that count sees the change of this process too.
 */
export async function noteChange(engine: Engine): Promise<void> {
  const [[count = null]] = await engine.read([COUNT_OF_CHANGES], { name: "noteChange" });
  await engine.apply({
    name: "noteChange",
    slot: slotOf(key),
    checks: [fieldIs(key, COUNT, count)],
    writes: [raised(count)],
  });
  engine.tell(key, "");
}

/** What a field becomes (null: it is removed), and what the caller is answered. `to` absent: nothing changes. */
export interface FieldChange {
  to?: string | null;
  answer: boolean;
}

export type ChangeField = (
  table: { key: string },
  field: string,
  decide: (stored: string | null) => FieldChange,
) => Promise<boolean>;

/** Changes a field of a hash in slot `g` and tells every instance, in one step. */
export function tellingFields(engine: Engine): ChangeField {
  const turn = inTurn();

  return (table, field, decide) =>
    turn(key, async () => {
      const reads = [{ read: "fields", key: table.key, fields: [field] }, COUNT_OF_CHANGES] as const;
      let [[stored = null], [count = null]] = await engine.read(reads, { name: "changeField" });
      return untilApplied("change what every instance caches", async () => {
        const { to, answer } = decide(stored);
        if (to === undefined) return answer;
        const applied = await engine.apply({
          name: "changeField",
          slot: slotOf(key),
          checks: [fieldIs(table.key, field, stored, to), fieldIs(key, COUNT, count)],
          writes: [written(table.key, field, to), raised(count)],
          reads,
        });
        if (applied.type === "failed") {
          [[stored = null], [count = null]] = applied.reads;
          return undefined;
        }
        engine.tell(key, "");
        return answer;
      });
    });
}

function written(table: string, field: string, to: string | null): Write {
  return to === null
    ? { write: "remove", key: table, fields: [field] }
    : { write: "set", key: table, fields: [[field, to]] };
}

function raised(count: string | null): Write {
  return { write: "set", key, fields: [[COUNT, String(Number(count ?? 0) + 1)]] };
}
