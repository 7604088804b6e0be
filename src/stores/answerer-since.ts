const FIELD = '"answererSinceMs":';

/**
 * When a thread's answerer last changed, from its snapshot; 0 if it never did. The field comes after the run, so the
 * last one of that name is read.
 */
export function answererSince(snapshot: string | null): number {
  const at = snapshot?.lastIndexOf(FIELD) ?? -1;
  return at < 0 ? 0 : Number.parseInt(snapshot?.slice(at + FIELD.length) ?? "", 10) || 0;
}

/** Does the thread's run wait until a call is approved? A text in it that reads so costs a write, and nothing else. */
export function waitsForApproval(snapshot: string | null): boolean {
  return snapshot?.includes('"awaitingApproval"') ?? false;
}
