import type { AuditEntry } from "../domain/audit.ts";
import type { Operator } from "../domain/operator.ts";
import type { Page } from "./page.ts";
import type { UnreadableRecord } from "./unreadable.ts";

/** Operators, kept in memory by every instance as channels are; and the audit. */
export interface OperatorStore {
  /** By name. Of one whose record cannot be read `onUnreadable` is told; without it the first of them is thrown. */
  operators(onUnreadable?: (error: UnreadableRecord) => void): Promise<Operator[]>;
  /** False, and nothing changes: there is one of that name. Gives the notice of channels. */
  addOperator(operator: Operator): Promise<boolean>;
  /** False, and nothing changes: there is none of that name. */
  replaceOperator(operator: Operator): Promise<boolean>;
  /** False: there is none of that name. */
  removeOperator(name: string): Promise<boolean>;

  /** Appends an entry to the audit. Drops what is older than AUDIT_KEPT_MS then, a little with each entry. */
  appendAudit(entry: AuditEntry): Promise<void>;
  /** Newest first. */
  audit(page: AuditPage): Promise<Page<PlacedEntry>>;
}

export interface AuditPage {
  limit: number;
  /** Where the last page ended; null: from the newest on. A place that is none gives an empty page. */
  after: string | null;
  /** Only entries of this time and later. */
  sinceMs: number;
}

export interface PlacedEntry {
  /** `AT_MS-NTH`: where it stands among all. */
  place: string;
  entry: AuditEntry;
}
