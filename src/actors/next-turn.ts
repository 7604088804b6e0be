import type { Turn } from "../agent.ts";
import { wholeMessage } from "../domain/kept-text.ts";
import type { Catalog, Message, RunRecord } from "../domain/message.ts";
import type { Usage } from "../../machines/run.ts";

/** What the model is asked next: the run, its user's text, and the history before it. */
export function nextTurn(thread: {
  slug: string;
  run: RunRecord;
  /** With the run's own message, oldest first. */
  history: readonly Message[];
  catalog: Catalog;
  traceparent: string | null;
  usage: Usage | null;
}): Turn {
  const { run, history, ...rest } = thread;
  const asked = history.findLastIndex(({ runId, role }) => runId === run.runId && role === "user");
  return {
    ...rest,
    run,
    text: history[asked]?.content ?? "",
    before: asked < 0 ? [...history] : history.slice(0, asked),
  };
}

/** Of long replies that ended while this process held the thread, what memory let go of is read again. */
export function withWholeReplies(
  turn: Turn,
  /** The text of a run's first so many parts. */
  keptText: (runId: string, parts: number) => Promise<string>,
): Turn | Promise<Turn> {
  if (!turn.before.some(({ kept }) => kept)) return turn;
  const whole = turn.before.map(async (message) => {
    const { runId, kept } = message;
    return kept ? wholeMessage(message, await keptText(runId, kept.parts)) : message;
  });
  return Promise.all(whole).then((before) => ({ ...turn, before }));
}
