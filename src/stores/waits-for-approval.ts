/** A snapshot begins with its state, so no text in it reads so. */
const WAITING = '{"value":{"running":"awaitingApproval"}';
/** What stands last in a sealed one (content-keys/snapshot.ts). A plain one ends with its context. */
const MARK = ',"waitsForApproval":true}';

/** Does the thread's run wait until a call is approved? `snapshot`: as stored, plain or sealed. */
export function waitsForApproval(snapshot: string | null): boolean {
  return snapshot !== null && (snapshot.startsWith(WAITING) || snapshot.endsWith(MARK));
}
