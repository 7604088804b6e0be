import type { AuditEntry } from "../domain/people/audit.ts";
import type { Operator } from "../domain/people/operator.ts";
import type { Page } from "./page.ts";
import type { UnreadableRecord } from "./unreadable.ts";

/** Operators, which every instance caches as it does channels; and the audit. */
export interface OperatorStore {
  /** Sorted by name. `onUnreadable` gets each unreadable one; without it the first of these is thrown. */
  operators(onUnreadable?: (error: UnreadableRecord) => void): Promise<Operator[]>;
  /** False: there is one of that name, and nothing changed. Notifies as a change of channels does. */
  addOperator(operator: Operator): Promise<boolean>;
  /** Writes it only if the stored one of its name is still `before`. False: it is not, and nothing changed. */
  replaceOperator(operator: Operator, before: Operator): Promise<boolean>;
  /** False: there is none of that name. */
  removeOperator(name: string): Promise<boolean>;

  /** Appends an entry to the audit, and removes some of the entries that are older than AUDIT_KEPT_MS. */
  appendAudit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  audit(page: AuditPage): Promise<Page<PlacedEntry>>;
}

export interface AuditPage {
  limit: number;
  /** Where the last page ended; null: from the newest on. An unknown place gives an empty page. */
  after: string | null;
  /** Only entries of this time and later. */
  sinceMs: number;
}

export interface PlacedEntry {
  /** `AT_MS-NTH`: its position among all entries. */
  place: string;
  entry: AuditEntry;
}
