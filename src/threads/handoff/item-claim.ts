import { hashOf } from "../../domain/threads/message-claim.ts";
import type { MessageClaim } from "../../domain/threads/message-claim.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { ThreadStore } from "../../store.ts";
import { itemOfRun } from "../hold/plan-change.ts";

/** The claim of an item that no run produced: a person's, or the service's own. */
export type ItemClaim = Omit<MessageClaim, "runId">;

/**
 * Keeps an operator's ids apart from visitors' ids, which have no control characters, and from other operators' ids. `name`:
 * the operator's; "": the service itself.
 */
export function claimOfItem(
  name: string,
  { clientMessageId, text }: { clientMessageId: string; text: string },
): ItemClaim {
  return { clientMessageId: `\u0001${name}\u0001${clientMessageId}`, textHash: hashOf(text) };
}

/** The item of an earlier request with this id; undefined: there was none. Refusal("invalid"): it had another text. */
export async function itemSaidBefore(
  store: Pick<ThreadStore, "claimed">,
  uid: string,
  claim: ItemClaim | null,
): Promise<string | undefined> {
  const runId = await runSaidBefore(store, uid, claim);
  return runId === undefined ? undefined : itemOfRun(runId);
}

/** The run of an earlier request with this id, likewise. */
export async function runSaidBefore(
  store: Pick<ThreadStore, "claimed">,
  uid: string,
  claim: ItemClaim | null,
): Promise<string | undefined> {
  const known = claim && (await store.claimed(uid, claim.clientMessageId));
  if (!known) return undefined;
  if (known.textHash === claim.textHash) return known.runId;
  throw new Refusal("invalid", "This clientMessageId was given to another text");
}
