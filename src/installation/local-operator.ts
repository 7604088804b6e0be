import type { Operator } from "../domain/operator.ts";
import { hashKey } from "../keys.ts";
import type { Secret } from "../secret.ts";
import type { OperatorStore } from "../store.ts";

/** The admin of a start without CHANNELS_FILE. */
export const LOCAL_OPERATOR = "local";

/** Made where it is missing; one that is there, of this start's key or another's, stays as it is. */
export async function createLocalOperator(
  store: Pick<OperatorStore, "operators" | "addOperator">,
  key: Secret,
): Promise<void> {
  const listed = await store.operators(() => {});
  if (listed.some(({ name }) => name === LOCAL_OPERATOR)) return;
  const local: Operator = { name: LOCAL_OPERATOR, role: "admin", keyHash: hashKey(key), channels: null };
  await store.addOperator(local);
}
