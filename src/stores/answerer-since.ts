const FIELD = '"answererSinceMs":';

/**
 * When it last changed who answers in a thread, as its snapshot says; 0 where it never did. The field stands behind the run, so
 * the last one of that name is meant.
 */
export function answererSince(snapshot: string | null): number {
  const at = snapshot?.lastIndexOf(FIELD) ?? -1;
  return at < 0 ? 0 : Number.parseInt(snapshot?.slice(at + FIELD.length) ?? "", 10) || 0;
}
