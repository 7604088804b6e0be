import type { ErrorLine, ProgressLine, TerminalLine } from "../../../machines/line.ts";
import type { RunLine } from "../../domain/kept-text.ts";
import type { Message } from "../../domain/message.ts";
import type { Store, ThreadRecord } from "../../store.ts";
import { INTERRUPTED } from "../interrupted.ts";

/** Where a run is, as the store has it. */
export type RunInStore =
  /** It ended its present stream, and this is all that it said. */
  | { type: "ended"; lines: readonly ProgressLine[]; terminal: TerminalLine }
  /** It ended, and another run came after it: what the history has of it, long text in so many parts. */
  | { type: "past"; lines: readonly RunLine[]; parts: number; terminal: TerminalLine }
  /** It goes on, or waits for its turn, where `fence` holds the thread. */
  | { type: "held"; fence: string }
  /** It goes on, and nobody holds the thread at this moment. */
  | { type: "free" }
  /** Neither waiting nor begun nor ended: a store that has none of it has lost what it had acknowledged. */
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
  // What waits is held.
  if (!run?.outcome) return fence === null ? { type: "lost" } : { type: "held", fence };
  const terminal = run.outcome === "superseded" ? SUPERSEDED : (run.terminal ?? INTERRUPTED);
  const reply = await replyOf(store, uid, runId);
  const lines = reply ? linesOf(reply, terminal) : [];
  return { type: "past", lines, parts: reply?.kept?.parts ?? 0, terminal };
}

/** Newest first: who asks for a run that is over asks for one of the last. */
async function replyOf(store: RunReadings, uid: string, runId: string): Promise<Message | null> {
  for (let before: string | null = null; ;) {
    const page: Message[] = await store.history(uid, {
      limit: PAGE_MESSAGES,
      before,
      budgetChars: PAGE_CHARS,
    });
    const reply = page.find((message) => message.runId === runId && message.role === "assistant");
    const oldest = page[0];
    if (reply || !oldest) return reply ?? null;
    before = oldest.id;
  }
}

/** What a run streamed, in short: its last steps, and its text in one piece. */
function linesOf({ steps = [], content, kept }: Message, terminal: TerminalLine): RunLine[] {
  const lines: RunLine[] = steps.map((step) => ({ type: "step", ...step }));
  // A failed run that streamed nothing has its error's message in the history.
  if (kept) return [...lines, { type: "delta", text: content, kept: kept.chars }];
  const streamed = content !== "" && !(terminal.type === "error" && content === terminal.message);
  return streamed ? [...lines, { type: "delta", text: content }] : lines;
}
