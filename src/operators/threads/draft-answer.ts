import type { Agent, Turn } from "../../agent.ts";
import { withoutSummarized } from "../../domain/threads/history-summary.ts";
import { Refusal } from "../../domain/refusal.ts";
import { ModelFault } from "../../model.ts";
import type { DraftLine } from "../../protocol/draft.ts";
import type { Store } from "../../store.ts";
import { newRun } from "../../threads/hold/plan-change.ts";
import { note } from "../acting.ts";
import type { Acting } from "../acting.ts";

type Reading = Pick<Store, "load">;

/** What the assistant would answer, without any tool: it is said to nobody, and is not stored. */
export interface Draft {
  /** Resolves after the last line; rejects after it, if the fault is none of the model's. */
  write(wrote: (line: DraftLine) => void, signal: AbortSignal): Promise<void>;
}

/**
 * Reads what waits for an answer: all that the user has written since somebody answered. The reading is in the audit. Refusal("conflict"):
 * nothing waits. `budgetChars`: of the history that is read.
 */
export async function draftAnswer(
  acting: Acting<Reading>,
  { slug, uid }: { slug: string; uid: string },
  { agent, budgetChars }: { agent: Pick<Agent, "think">; budgetChars: number },
): Promise<Draft> {
  await note(acting, { action: "desk.draft", target: uid, slug });
  const record = await acting.store.load(uid, budgetChars);
  const tail = record?.tail ?? [];
  const answered = tail.findLastIndex(({ role }) => role === "assistant");
  const asked = tail.slice(answered + 1);
  if (!record?.run || asked.length === 0) throw new Refusal("conflict", "Nothing waits for an answer");
  const summary = record.historySummary ?? null;
  const turn: Turn = {
    slug,
    run: newRun(record.run),
    text: asked.map(({ content }) => content).join("\n\n"),
    ...(summary === null ? {} : { summary }),
    before: withoutSummarized(tail.slice(0, answered + 1), summary),
    catalog: [],
    withoutTools: true,
    traceparent: null,
  };
  return {
    async write(wrote, signal) {
      try {
        const end = await agent.think(turn, (text) => wrote({ type: "delta", text }), signal);
        wrote("message" in end ? { type: "error", message: end.message } : { type: "done" });
      } catch (error) {
        if (signal.aborted) return;
        const isKnown = error instanceof ModelFault;
        wrote({ type: "error", message: isKnown ? error.message : "The draft could not be made" });
        if (!isKnown) throw error;
      }
    },
  };
}
