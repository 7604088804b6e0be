import type { ThreadStore } from "../../store.ts";
import type { BringEvent } from "../handoff/bring-event.ts";
import { claimOfItem, itemSaidBefore } from "../handoff/item-claim.ts";

/** What the service says of its own accord. */
export interface Spoken {
  uid: string;
  slug: string;
  text: string;
  /** The caller's own id: a repeat with the same text says nothing more. */
  clientMessageId: string | null;
}

/**
 * The service speaks of its own accord: what it says enters the history, and no model is called. While a run goes on it
 * waits for its end, for some seconds. Resolves to the item's id. Refusal("invalid"): the id was given to another text;
 * Refusal("unavailable"): the run goes on.
 */
export function createSpeak({
  bring,
  store,
}: {
  bring: BringEvent;
  store: Pick<ThreadStore, "claimed">;
}): (spoken: Spoken) => Promise<string> {
  return ({ uid, slug, text, clientMessageId }) => {
    const claim = clientMessageId === null ? null : claimOfItem("", { clientMessageId, text });
    return bring(uid, {
      slug,
      judge: () => itemSaidBefore(store, uid, claim),
      result: ({ itemId }) => itemId,
      claim: () => ({ event: { type: "service.said", text }, ...(claim ? { claimsId: claim } : {}) }),
      interrupts: null,
    });
  };
}
