import { isDeepStrictEqual } from "node:util";
import { AUDIT_KEPT_MS } from "../../domain/audit.ts";
import type { AuditEntry } from "../../domain/audit.ts";
import type { Operator } from "../../domain/operator.ts";
import type { OperatorStore, PlacedEntry } from "../../store/operators.ts";
import { pageOf } from "../../store/page.ts";
import { auditPlace, readAuditPlace } from "../audit-place.ts";
import { readReadable } from "../read-readable.ts";
import { auditKind, operatorKind } from "../operator-records.ts";
import type { RedisCommands } from "./commands.ts";
import { globalKeys } from "./keys.ts";
import { scoresOf } from "./pages.ts";
import { jsonValue, pairsOf, textOrNull } from "./records.ts";

/** Old entries removed with each new one: more than one, so that the audit shrinks after a busy year. */
const DROPPED_AT_ONCE = "2";

/** Operators and the audit on Redis: a few records that every instance caches, and one long list. */
export function redisOperators(redis: RedisCommands): OperatorStore {
  const { operators, audit, changes } = globalKeys;

  /** Writes the record if the stored text is still `before`; an empty text is none. */
  async function change(name: string, before: string, record: string): Promise<boolean> {
    return (await redis.call("change_operator", { operators, changes }, { name, before, record })) === 1;
  }

  async function storedText(name: string): Promise<string> {
    return textOrNull(await redis.peek(operators, "HGET", operators, name)) ?? "";
  }

  return {
    async operators(onUnreadable) {
      return pairsOf(await redis.peek(operators, "HGETALL", operators))
        .flatMap(([name, record]) =>
          readReadable(() => operatorKind.read(jsonValue(record), name), onUnreadable),
        )
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    addOperator: (operator) => change(operator.name, "", operatorRecord(operator)),

    async replaceOperator(operator, before) {
      const text = await storedText(operator.name);
      if (text === "" || !isDeepStrictEqual(operatorIn(text, operator.name), before)) return false;
      return change(operator.name, text, operatorRecord(operator));
    },

    async removeOperator(name) {
      for (;;) {
        const text = await storedText(name);
        if (text === "") return false;
        if (await change(name, text, "")) return true;
      }
    },

    async appendAudit(entry) {
      const { atMs } = entry;
      const keptFromMs = String(Math.max(0, atMs - AUDIT_KEPT_MS));
      const args = { entry: auditText(entry), atMs: String(atMs), keptFromMs };
      await redis.call("append_audit", { audit }, { ...args, most: DROPPED_AT_ONCE });
    },

    async audit({ limit, after, sinceMs }) {
      const place = after === null ? null : readAuditPlace(after);
      if (after !== null && place === null) return { items: [], next: null };
      const from = place === null ? "+inf" : `(${place.atMs * 1000 + place.nth}`;
      const range = [from, String(sinceMs * 1000), "BYSCORE", "REV", "LIMIT", "0", String(limit + 1)];
      const reply = await redis.read(audit, "ZRANGE", audit, ...range, "WITHSCORES");
      return pageOf(scoresOf(reply).map(placedEntry), limit);
    },
  };
}

/** Null: unreadable. */
function operatorIn(text: string, name: string): Operator | null {
  return (
    readReadable(
      () => operatorKind.read(jsonValue(text), name),
      () => {},
    )[0] ?? null
  );
}

function operatorRecord(operator: Operator): string {
  return JSON.stringify(operatorKind.stored(operator));
}

/** An entry as it is stored after its place. */
export function auditText(entry: AuditEntry): string {
  return JSON.stringify(auditKind.stored(entry));
}

export function placedEntry([member, score]: [member: string, score: string]): PlacedEntry {
  const place = Number(score);
  const json = jsonValue(member.slice(member.indexOf(" ") + 1));
  return {
    place: auditPlace({ atMs: Math.floor(place / 1000), nth: place % 1000 }),
    entry: auditKind.read(json, globalKeys.audit),
  };
}
