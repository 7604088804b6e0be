import { Refusal } from "../../domain/refusal.ts";
import type { Speaker } from "../../domain/threads/message.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { beginningOf } from "../hold/known-thread.ts";
import type { BringEvent } from "../handoff/bring-event.ts";
import { claimOfItem, itemSaidBefore, runSaidBefore } from "../handoff/item-claim.ts";

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
}: Pick<ThreadDependencies, "store"> & { bring: BringEvent }): (spoken: Spoken) => Promise<string> {
  return ({ uid, slug, text, clientMessageId }) => {
    const claim = clientMessageId === null ? null : claimOfItem("", { clientMessageId, text });
    return bring(uid, {
      slug,
      judge: () => itemSaidBefore(store, uid, claim),
      result: ({ itemId }) => itemId,
      claim: () => ({ event: { type: "service.said", text }, ...(claim ? { claimsId: claim } : {}) }),
      forHolder: null,
    });
  };
}

/** What the service wants its model to say of its own accord. */
export interface Instructed {
  uid: string;
  slug: string;
  userId: string;
  speaker: Speaker;
  /** For the model alone: nobody is shown it, and no later run is told. */
  instruction: string;
  /** The caller's own id: a repeat with the same instruction begins no run. */
  clientMessageId: string | null;
  traceparent: string | null;
}

/**
 * Begins a run that answers nobody's message: its reply enters the history as any other. While a run goes on, or a call waits
 * for its page, it waits for the end, for some seconds. Resolves to the run's id when it is stored. Refusal("conflict"): a
 * person has the thread, or is waited for; Refusal("invalid"): the id was given to another instruction;
 * Refusal("unavailable"): the run goes on.
 */
export function createInstruct({
  bring,
  store,
  clock,
  newId,
  limits,
}: Pick<ThreadDependencies, "store" | "clock" | "newId" | "limits"> & { bring: BringEvent }): (
  instructed: Instructed,
) => Promise<string> {
  return ({ uid, slug, userId, speaker, instruction: text, clientMessageId, traceparent }) => {
    const claim = clientMessageId === null ? null : claimOfItem("run", { clientMessageId, text });
    const said = { runId: newId(), saidAtMs: clock.now() };
    return bring(uid, {
      slug,
      async judge({ context }) {
        const before = await runSaidBefore(store, uid, claim);
        if (before !== undefined) return before;
        if (context.person) throw new Refusal("conflict", "A person has the thread, or is waited for");
        return undefined;
      },
      result: () => said.runId,
      claim: () => ({
        event: { type: "service.instructed", ...beginningOf(said, limits) },
        message: { ...said, api: "server", text, userId, speaker },
        ...(claim ? { claimsId: claim } : {}),
      }),
      forHolder: null,
      traceparent,
    });
  };
}
