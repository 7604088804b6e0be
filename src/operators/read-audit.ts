import type { AuditEntry } from "../domain/audit.ts";
import { seesChannel } from "../domain/operator.ts";
import type { AuditPage, OperatorStore } from "../store.ts";

export interface AuditFilter {
  /** null: anybody's. */
  operator: string | null;
  /** null: what was done to anything. */
  target: string | null;
  /** null: of every channel, and of none. */
  channels: string[] | null;
}

/** Entries that one request looks at. */
const LOOKED_AT = 10_000;
const LOOKED_AT_ONCE = 500;

/** A page of what fits. It may hold fewer than `limit`, even none, and have a next one. */
export async function readAudit(
  store: Pick<OperatorStore, "audit">,
  { limit, after: from, sinceMs }: AuditPage,
  filter: AuditFilter,
): Promise<{ entries: AuditEntry[]; next: string | null }> {
  const isAll = filter.operator === null && filter.target === null && filter.channels === null;
  const atOnce = isAll ? limit : LOOKED_AT_ONCE;
  const entries: AuditEntry[] = [];
  let after = from;
  for (let lookedAt = 0; lookedAt < LOOKED_AT && entries.length < limit; lookedAt += atOnce) {
    const page = await store.audit({ limit: atOnce, after, sinceMs });
    for (const { entry, place } of page.items) {
      if (entries.length === limit) return { entries, next: after };
      after = place;
      if (fits(entry, filter)) entries.push(entry);
    }
    after = page.next;
    if (after === null) break;
  }
  return { entries, next: after };
}

function fits(entry: AuditEntry, { operator, target, channels }: AuditFilter): boolean {
  if (operator !== null && entry.operator !== operator) return false;
  if (target !== null && entry.target !== target) return false;
  return seesChannel({ channels }, entry.slug);
}
