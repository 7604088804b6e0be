import { isDeepStrictEqual } from "node:util";
import { AUDIT_KEPT_MS } from "../../domain/audit.ts";
import type { AuditEntry } from "../../domain/audit.ts";
import type { Operator } from "../../domain/operator.ts";
import type { OperatorStore } from "../../store/operators.ts";
import { pageOf } from "../../store/page.ts";
import { auditPlace, readAuditPlace } from "../audit-place.ts";
import type { AuditPlace } from "../audit-place.ts";
import { readReadable } from "../read-readable.ts";
import { auditKind, operatorKind } from "../operator-records.ts";
import { countChange } from "./channels.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";

const OPERATORS = "op";
const AUDIT = "audit";

const operatorKey = (name: string): Key => [OPERATORS, keyPart(name)];
const auditKey = ({ atMs, nth }: AuditPlace): Key => [AUDIT, atMs, nth];

/** Old entries removed with each new one: more than one, so that the audit shrinks after a busy year. */
const DROPPED_AT_ONCE = 2;

/** Within a change. */
function putOperator(db: EmbeddedDb, operator: Operator): void {
  db.put(operatorKey(operator.name), operatorKind.stored(operator));
}

/** Within a change. */
export function putAudit(db: EmbeddedDb, place: AuditPlace, entry: AuditEntry): void {
  db.put(auditKey(place), auditKind.stored(entry));
}

export function placeFrom([, atMs, nth]: Key): AuditPlace {
  return { atMs: Number(atMs), nth: Number(nth) };
}

/** Operators and the audit in the embedded store. */
export function embeddedOperators(db: EmbeddedDb): OperatorStore {
  /** Undefined: there is none, or it is unreadable. */
  const stored = (name: string): Operator | undefined => {
    const value = db.get(operatorKey(name), (found) => found);
    if (value === undefined) return undefined;
    return readReadable(
      () => operatorKind.read(value, operatorKey(name)),
      () => {},
    )[0];
  };

  function write(action: string, operator: Operator, mayWrite: () => boolean): Promise<boolean> {
    return db.change(action, () => {
      if (!mayWrite()) return false;
      putOperator(db, operator);
      countChange(db);
      return true;
    });
  }

  /** After the last entry of its millisecond. */
  function placeOf(atMs: number): AuditPlace {
    const [last] = db.range([AUDIT, atMs], (value) => value, { reverse: true, limit: 1 });
    return { atMs, nth: last === undefined ? 0 : placeFrom(last.key).nth + 1 };
  }

  return {
    operators: (onUnreadable) =>
      db.read("list operators", () =>
        [...db.range([OPERATORS], (value) => value)]
          .flatMap(({ key, value }) => readReadable(() => operatorKind.read(value, key), onUnreadable))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      ),

    addOperator: (operator) => write("add an operator", operator, () => !db.has(operatorKey(operator.name))),
    replaceOperator: (operator, before) =>
      write("change an operator", operator, () => isDeepStrictEqual(stored(operator.name), before)),

    removeOperator: (name) =>
      db.change("remove an operator", () => {
        if (!db.has(operatorKey(name))) return false;
        db.remove(operatorKey(name));
        countChange(db);
        return true;
      }),

    appendAudit: (entry) =>
      db.change("write the audit", () => {
        putAudit(db, placeOf(entry.atMs), entry);
        const oldest = [...db.range([AUDIT], (value) => value, { limit: DROPPED_AT_ONCE })];
        for (const { key } of oldest) {
          if (placeFrom(key).atMs < entry.atMs - AUDIT_KEPT_MS) db.remove(key);
        }
      }),

    audit: ({ limit, after, sinceMs }) =>
      db.read("read the audit", () => {
        const place = after === null ? null : readAuditPlace(after);
        if (after !== null && place === null) return { items: [], next: null };
        // The range includes the place itself.
        const from = place === null ? {} : { from: auditKey(place) };
        const found = [...db.range([AUDIT], auditKind.read, { ...from, reverse: true, limit: limit + 2 })]
          .map(({ key, value }) => ({ place: auditPlace(placeFrom(key)), entry: value }))
          .filter((entry) => entry.place !== after && entry.entry.atMs >= sinceMs);
        return pageOf(found, limit);
      }),
  };
}
