import type { Operator } from "../../domain/people/operator.ts";
import type { OperatorStore } from "../../store.ts";

/** One more try is needed only where somebody else wrote meanwhile, so others write as often as this fails. */
const MOST_TRIES = 100;

/**
 * Changes the operator that `isMeant` finds, as it is stored at that moment: where somebody else wrote it between reading
 * and writing, `changed` is asked again, with what they wrote. Null: there is none, or `changed` says null. Rejects
 * where others write all the time.
 */
export async function changeOperator(
  store: Pick<OperatorStore, "operators" | "replaceOperator">,
  isMeant: (operator: Operator) => boolean,
  changed: (operator: Operator) => Operator | null,
): Promise<Operator | null> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const before = (await store.operators(() => {})).find(isMeant);
    const after = before === undefined ? null : changed(before);
    if (before === undefined || after === null) return null;
    if (await store.replaceOperator(after, before)) return after;
  }
  throw new Error("Cannot change the operator: others change it all the time");
}
