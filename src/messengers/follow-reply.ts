import type { Line, TerminalLine } from "../../machines/line.ts";
import { isTerminal } from "../../machines/line.ts";
import { pause } from "../clock.ts";
import type { Clock, Timers } from "../clock.ts";
import type { Threads } from "../threads/threads.ts";

/** What of a run its messenger shows while it goes on. */
export interface ReplyView {
  /** The text so far; called when there is more of it, and not before the call before has ended. */
  grown(text: string): Promise<void>;
  /** Called every so often while the run goes on. */
  stillRuns(): void;
  /** How long to wait before the text is shown again. */
  everyMs: number;
}

/** A short reply comes at once, without edits. */
const FIRST_MS = 800;
/** The run goes on elsewhere: when to look for it again. */
const AGAIN_MS = 500;

/** Follows a run to its end, on whichever instance it is. Resolves to the text that it streamed. */
export async function followReply(
  {
    threads,
    clock,
    timers,
    signal,
  }: {
    threads: Pick<Threads, "followRun">;
    clock: Clock;
    timers: Timers;
    signal: AbortSignal;
  },
  { uid, runId }: { uid: string; runId: string },
  view: ReplyView,
): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const reply = await threads.followRun(uid, runId);
    if (!reply) return "";
    let text = "";
    let terminal: TerminalLine | null = null;
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    signal.addEventListener("abort", end);
    reply.read((lines: Line[]) => {
      for (const line of lines) {
        if (line.type === "delta") text += line.text;
        if (!isTerminal(line)) continue;
        terminal = line;
        end();
      }
    });
    let shown = "";
    let nextMs = clock.elapsed() + FIRST_MS;
    try {
      while (terminal === null && !signal.aborted) {
        await Promise.race([ended, pause(timers, Math.max(nextMs - clock.elapsed(), MIN_MS))]);
        if (terminal !== null || signal.aborted || clock.elapsed() < nextMs) continue;
        view.stillRuns();
        if (text !== shown) {
          shown = text;
          await view.grown(text);
        }
        nextMs = clock.elapsed() + view.everyMs;
      }
    } finally {
      signal.removeEventListener("abort", end);
      reply.leave();
    }
    signal.throwIfAborted();
    if (!isInterrupted(terminal)) return text;
    await pause(timers, AGAIN_MS);
  }
}

const MIN_MS = 10;

function isInterrupted(terminal: TerminalLine | null): boolean {
  return terminal?.type === "error" && terminal.code === "interrupted";
}
