import type { Clock } from "../clock.ts";
import type { AuditEntry } from "../domain/people/audit.ts";
import type { Actor } from "../domain/people/operator.ts";
import type { OperatorStore } from "../store.ts";

/**
 * Who acts, through the API or the command line, and on what: `Asked` names the parts of the store that an action
 * needs.
 */
export interface Acting<Asked> {
  store: Asked & Pick<OperatorStore, "appendAudit">;
  clock: Pick<Clock, "now">;
  operator: Actor;
}

/**
 * Writes an action into the audit before it is performed; rejects if it cannot be written. So every action has an
 * entry, and an action with an entry may still have failed.
 */
export async function note(
  { store, clock, operator }: Acting<unknown>,
  entry: Omit<AuditEntry, "atMs" | "operator">,
): Promise<void> {
  await store.appendAudit({ ...entry, atMs: clock.now(), operator });
}
