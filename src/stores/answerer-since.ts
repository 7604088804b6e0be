const FIELD = '"answererSinceMs":';

/**
 * When a thread's answerer last changed, from its snapshot; 0 if it never did. The field comes after the run, so the
 * last one of that name is read.
 */
export function answererSince(snapshot: string | null): number {
  const at = snapshot?.lastIndexOf(FIELD) ?? -1;
  return at < 0 ? 0 : Number.parseInt(snapshot?.slice(at + FIELD.length) ?? "", 10) || 0;
}
