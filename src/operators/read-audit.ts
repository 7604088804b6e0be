import type { AuditEntry } from "../domain/people/audit.ts";
import { seesChannel } from "../domain/people/operator.ts";
import type { AuditPage, OperatorStore } from "../store.ts";

export interface AuditFilter {
  /** null: of any operator. */
  operator: string | null;
  /** null: any target. */
  target: string | null;
  /** null: of any channel, or none. */
  channels: string[] | null;
}

/** Entries that one request reads. */
const LOOKED_AT = 10_000;
const LOOKED_AT_ONCE = 500;

/** A page of matching entries. It may have fewer than `limit`, even none, and still have a next page. */
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
