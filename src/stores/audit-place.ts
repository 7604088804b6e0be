/** The position of an entry among all entries of the audit: `AT_MS-NTH`, NTH among those of its millisecond. */
export interface AuditPlace {
  atMs: number;
  nth: number;
}

export function auditPlace({ atMs, nth }: AuditPlace): string {
  return `${atMs}-${nth}`;
}

/** Null: not a place. */
export function readAuditPlace(text: string): AuditPlace | null {
  const [, atMs, nth] = /^(\d{1,15})-(\d{1,6})$/.exec(text) ?? [];
  return atMs === undefined || nth === undefined ? null : { atMs: Number(atMs), nth: Number(nth) };
}
