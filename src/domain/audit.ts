/** Who did what: one entry of the audit. It is written once, before what it tells of, and never changed. */
export interface AuditEntry {
  atMs: number;
  /** An operator's name, or one of NO_OPERATORS (operator.ts). */
  operator: string;
  /** `users.block`, `thread.read` */
  action: string;
  /** The service's own id of what it was done to, a slug, an address or a name; never the caller's id of a user. */
  target: string;
  /** The channel that it belongs to; null: to the installation. */
  slug: string | null;
  /** What else is to be known: names of fields, never their contents. */
  detail?: Record<string, unknown>;
}

/** What is older is dropped. */
export const AUDIT_KEPT_MS = 365 * 24 * 3_600_000;
