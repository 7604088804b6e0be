/** One entry of the audit: who did what. It is written once, before the action, and never changed. */
export interface AuditEntry {
  atMs: number;
  /** An operator's name, or one of those of operator.ts. */
  operator: string;
  /** `users.block`, `thread.read` */
  action: string;
  /** The object of the action: the service's own id, a slug, an address or a name; never the caller's id of a user. */
  target: string;
  /** The channel that it belongs to; null: the whole installation. */
  slug: string | null;
  /** More about the action: names of fields, never their contents. */
  detail?: Record<string, unknown>;
}

/** Older entries are removed. */
export const AUDIT_KEPT_MS = 365 * 24 * 3_600_000;
