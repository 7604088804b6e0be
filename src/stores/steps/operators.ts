import { isDeepStrictEqual } from "node:util";
import { AUDIT_KEPT_MS } from "../../domain/people/audit.ts";
import type { AuditEntry } from "../../domain/people/audit.ts";
import type { Operator } from "../../domain/people/operator.ts";
import { pageOf } from "../../store.ts";
import type { OperatorStore, PlacedEntry } from "../../store.ts";
import { auditPlace, readAuditPlace } from "../audit-place.ts";
import { slotOf } from "../engine.ts";
import type { Member } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { auditKind, operatorKind } from "../records/operator-records.ts";
import { readReadable } from "../records/read-readable.ts";
import { PLACES_PER_MS, tables } from "../tables.ts";
import type { StepsContext } from "./context.ts";
import { fieldIs } from "./field-is.ts";
import { inTurn } from "./in-turn.ts";
import { tellingFields } from "./notice.ts";
import { untilApplied } from "./until-applied.ts";

/** Old entries removed with each new one: more than one, so that the audit shrinks after a busy year. */
const DROPPED_AT_ONCE = 2;

/** Operators and the audit. */
export function operatorSteps({ engine }: Pick<StepsContext, "engine">): OperatorStore {
  const { operators, audit } = tables;
  const changeField = tellingFields(engine);
  const turn = inTurn();

  /**
   * Appends the entry at the next place of its millisecond. Where another process has appended one meanwhile, the refused
   * step has read what is there now: so the next try is sooner than that process's next entry, and nobody starves.
   */
  function append(entry: AuditEntry): Promise<true> {
    const { key } = audit;
    const appended = { key: tables.changes.key, field: "audit" };
    const first = entry.atMs * PLACES_PER_MS;
    const keptFrom = (entry.atMs - AUDIT_KEPT_MS) * PLACES_PER_MS;
    const reads = [
      { read: "fields", key: appended.key, fields: [appended.field] },
      { read: "number", key, from: first, to: first + PLACES_PER_MS - 1 },
      { read: "range", key, to: keptFrom - 1, limit: DROPPED_AT_ONCE },
    ] as const;
    let reading = engine.read(reads);
    return untilApplied("append to the audit", async () => {
      const [[count = null], taken, old] = await reading;
      const place = first + Math.min(taken, PLACES_PER_MS - 1);
      const step = await engine.apply({
        name: "appendAudit",
        slot: slotOf(key),
        checks: [fieldIs(appended.key, appended.field, count)],
        writes: [
          { write: "put", key, members: [auditMember(place, entry)] },
          ...(old.length > 0
            ? [{ write: "take" as const, key, members: old.map(([member]) => member) }]
            : []),
          { write: "set", key: appended.key, fields: [[appended.field, String(Number(count ?? 0) + 1)]] },
        ],
        reads,
      });
      if (step.type !== "failed") return true;
      reading = Promise.resolve(step.reads);
      return undefined;
    });
  }

  return {
    async operators(onUnreadable) {
      const [pairs] = await engine.read([{ read: "hash", key: operators.key }], {
        durable: false,
        name: "operators",
      });
      return pairs
        .flatMap(([name, record]) =>
          readReadable(() => operatorKind.read(jsonValue(record), name), onUnreadable),
        )
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    addOperator(operator) {
      const record = operatorText(operator);
      return changeField(operators, operator.name, (stored) => {
        // The same record: a repeat of this call.
        return stored === null || stored === record ? { to: record, answer: true } : { answer: false };
      });
    },

    replaceOperator: (operator, before) =>
      changeField(operators, operator.name, (stored) => {
        const found = stored === null ? null : operatorIn(stored, operator.name);
        // A repeat of the same call may still have to tell of it.
        const isExpected = [before, operator].some((expected) => isDeepStrictEqual(found, expected));
        return isExpected ? { to: operatorText(operator), answer: true } : { answer: false };
      }),

    // Also told if there is none: the call may be the repeat of one whose change was not told.
    removeOperator: (name) =>
      changeField(operators, name, (stored) => ({ to: null, answer: stored !== null })),

    async appendAudit(entry) {
      await turn(audit.key, () => append(entry));
    },

    async audit({ limit, after, sinceMs }) {
      const place = after === null ? null : readAuditPlace(after);
      if (after !== null && place === null) return { items: [], next: null };
      const [found] = await engine.read([
        {
          read: "range",
          key: audit.key,
          from: sinceMs * PLACES_PER_MS,
          ...(place ? { to: place.atMs * PLACES_PER_MS + place.nth - 1 } : {}),
          reverse: true,
          limit: limit + 1,
        },
      ]);
      return pageOf(found.map(placedEntry), limit);
    },
  };
}

/** Null: unreadable. */
function operatorIn(text: string, name: string): Operator | null {
  const [operator = null] = readReadable(
    () => operatorKind.read(jsonValue(text), name),
    () => {},
  );
  return operator;
}

/** An operator as it is stored. */
export function operatorText(operator: Operator): string {
  return JSON.stringify(operatorKind.stored(operator));
}

/** An entry as it is stored. Its place comes first, because two entries may say the same. */
export function auditMember(place: number, entry: AuditEntry): Member {
  return [`${place} ${JSON.stringify(auditKind.stored(entry))}`, place];
}

export function placedEntry([member, place]: Member): PlacedEntry {
  const json = jsonValue(member.slice(member.indexOf(" ") + 1));
  return {
    place: auditPlace({ atMs: Math.floor(place / PLACES_PER_MS), nth: place % PLACES_PER_MS }),
    entry: auditKind.read(json, tables.audit.key),
  };
}
