/** Where an entry of the audit stands among all: `AT_MS-NTH`, NTH of those of one millisecond. */
export interface AuditPlace {
  atMs: number;
  nth: number;
}

export function auditPlace({ atMs, nth }: AuditPlace): string {
  return `${atMs}-${nth}`;
}

/** Null: no place of an entry. */
export function readAuditPlace(text: string): AuditPlace | null {
  const [, atMs, nth] = /^(\d{1,15})-(\d{1,6})$/.exec(text) ?? [];
  return atMs === undefined || nth === undefined ? null : { atMs: Number(atMs), nth: Number(nth) };
}
