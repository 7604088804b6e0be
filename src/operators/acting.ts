import type { Clock } from "../clock.ts";
import type { AuditEntry } from "../domain/audit.ts";
import type { Actor } from "../domain/operator.ts";
import type { OperatorStore } from "../store.ts";

/** Somebody who acts, through the API or the command line, and on what: `Asked` names the parts of the store that an action needs. */
export interface Acting<Asked> {
  store: Asked & Pick<OperatorStore, "appendAudit">;
  clock: Pick<Clock, "now">;
  operator: Actor;
}

/**
 * Writes what somebody is about to do into the audit. Before it is done, and rejects where it cannot be written: nothing
 * happens that the audit does not know, and what it tells of may have failed.
 */
export async function note(
  { store, clock, operator }: Acting<unknown>,
  entry: Omit<AuditEntry, "atMs" | "operator">,
): Promise<void> {
  await store.appendAudit({ ...entry, atMs: clock.now(), operator });
}
