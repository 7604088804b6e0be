import type { Operator } from "../domain/people/operator.ts";
import { LOCAL_OPERATOR } from "../domain/people/operator-name.ts";
import { hashKey } from "../keys.ts";
import type { Secret } from "../secret.ts";
import type { OperatorStore } from "../store.ts";

/** Creates the operator if it is missing; an existing one stays as it is. True if its key is this one. */
export async function createLocalOperator(
  store: Pick<OperatorStore, "operators" | "addOperator">,
  key: Secret,
): Promise<boolean> {
  const listed = await store.operators(() => {});
  const known = listed.find(({ name }) => name === LOCAL_OPERATOR);
  if (known) return known.keyHash === hashKey(key);
  const local: Operator = { name: LOCAL_OPERATOR, role: "admin", keyHash: hashKey(key), channels: null };
  // False if another instance has created one meanwhile.
  return store.addOperator(local);
}
