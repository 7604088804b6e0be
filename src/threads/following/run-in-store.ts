import type { ErrorLine, ProgressLine, TerminalLine } from "../../../machines/line.ts";
import type { RunLine } from "../../domain/threads/kept-text.ts";
import type { Message } from "../../domain/threads/message.ts";
import type { Store, ThreadRecord } from "../../store.ts";
import { INTERRUPTED } from "../recover/interrupted.ts";

/** The state of a run, as the store has it. */
export type RunInStore =
  /** Its present stream has ended; these are all its lines. */
  | { type: "ended"; lines: readonly ProgressLine[]; terminal: TerminalLine }
  /** It ended and another run came after it: its lines from the history, with long text in `parts` parts. */
  | { type: "past"; lines: readonly RunLine[]; parts: number; terminal: TerminalLine }
  /** It is active or queued, and `fence` holds the thread. */
  | { type: "held"; fence: string }
  /** It is active, and nobody holds the thread at this moment. */
  | { type: "free" }
  /** Neither queued nor begun nor ended: the store has lost an acknowledged write. */
  | { type: "lost" };

const SUPERSEDED: ErrorLine = {
  type: "error",
  code: "superseded",
  message: "A later message ended the call that this run waited for",
};

const PAGE_MESSAGES = 100;
const PAGE_CHARS = 524_288;

type RunReadings = Pick<Store, "run" | "history">;

export async function findRun(
  store: RunReadings,
  record: ThreadRecord | null,
  { uid, runId }: { uid: string; runId: string },
): Promise<RunInStore> {
  const fence = record?.fence ?? null;
  if (record?.run?.runId === runId) {
    const { lines, terminal } = record.run;
    if (terminal) return { type: "ended", lines, terminal };
    return fence === null ? { type: "free" } : { type: "held", fence };
  }
  const run = await store.run(uid, runId);
  // A queued run: only a held thread has a queue.
  if (!run?.outcome) return fence === null ? { type: "lost" } : { type: "held", fence };
  const terminal = run.outcome === "superseded" ? SUPERSEDED : (run.terminal ?? INTERRUPTED);
  const reply = await replyOf(store, uid, runId);
  const lines = reply ? linesOf(reply, terminal) : [];
  return { type: "past", lines, parts: reply?.kept?.parts ?? 0, terminal };
}

/** Searches newest first: a run that is asked for is mostly one of the last. */
async function replyOf(store: RunReadings, uid: string, runId: string): Promise<Message | null> {
  for (let before: string | null = null; ;) {
    const page: Message[] = await store.history(uid, {
      limit: PAGE_MESSAGES,
      before,
      all: true,
      budgetChars: PAGE_CHARS,
    });
    const reply = page.find((message) => message.runId === runId && message.role === "assistant");
    const oldest = page[0];
    if (reply || !oldest) return reply ?? null;
    before = oldest.id;
  }
}

/** A run's stream in short form: the last phase of each step, and the text in one piece. */
function linesOf({ steps = [], content, kept }: Message, terminal: TerminalLine): RunLine[] {
  const lines: RunLine[] = steps.map((step) => ({ type: "step", ...step }));
  // A failed run that streamed nothing has its error's message in the history.
  if (kept) return [...lines, { type: "delta", text: content, kept: kept.chars }];
  const streamed = content !== "" && !(terminal.type === "error" && content === terminal.message);
  return streamed ? [...lines, { type: "delta", text: content }] : lines;
}
