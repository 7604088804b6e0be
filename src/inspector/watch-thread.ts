import type { Line } from "../../machines/line.ts";
import { cutText, isTerminal } from "../../machines/line.ts";
import type { PlainLog } from "../log.ts";
import type { Reply } from "../actors/reply.ts";
import type { Threads } from "../actors/threads.ts";
import { StoreUnavailable } from "../store.ts";
import type { RunSummary, Store, ThreadRecord } from "../store.ts";
import { runView, threadView } from "./thread-view.ts";
import type { Sight } from "./views.ts";

/** Newest runs and messages that a watcher is told of; all of it stays far below what a reader may leave unread (1 MiB). */
const RUNS = 30;
const MOVES = 2_000;
const MESSAGES = 100;
const MESSAGE_CHARS = 1_000;
const DELTA_CHARS = 20_000;
/** How often the store is looked into; lines that are said bring the next look sooner. */
const LOOK_MS = 1_000;
const SOON_MS = 60;
/** A silent stream is cut by what lies between: this often it says that it lives. */
const BEAT_MS = 10_000;

/**
 * Watches one thread, wherever its run is: the store is looked into once a second for states and commits, and the run's
 * lines are read along as any re-attached client reads them. `tell` is given sights until the watcher is stopped.
 */
export function watchThread(
  parts: {
    store: Pick<Store, "load" | "runs" | "history">;
    threads: Pick<Threads, "follow">;
    log: PlainLog;
  },
  uid: string,
  tell: (sight: Sight) => void,
): () => void {
  const { store, threads, log } = parts;
  let stopped = false;
  let timer: NodeJS.Timeout | null = null;
  let looking = false;
  let seen: string | null = null;
  let seenRun: string | null = null;
  let seenMessages = -1;
  /** The stream that is, or was last, read along: a run, and where its present stream begins. */
  let followed: string | null = null;
  let reply: Reply | null = null;

  async function look(): Promise<void> {
    if (looking || stopped) return;
    looking = true;
    try {
      const record = await store.load(uid, 1);
      if (record === null) tellOnce("untouched", { type: "untouched" });
      else await tellOf(record);
    } catch (error) {
      const isAway = error instanceof StoreUnavailable;
      if (!isAway) log.warn({ uid, err: error }, "cannot look at a thread");
      tellOnce("trouble", {
        type: "trouble",
        message: isAway ? "The store does not answer" : "The thread cannot be read: the log says why",
      });
    } finally {
      looking = false;
      lookIn(LOOK_MS);
    }
  }

  function lookIn(ms: number): void {
    if (timer) clearTimeout(timer);
    timer = stopped ? null : setTimeout(() => void look(), ms).unref();
  }

  async function tellOf(record: ThreadRecord): Promise<void> {
    const { run, messageCount } = record;
    const mark = `${record.rev} ${record.fence} ${record.waitingCount}`;
    if (mark !== seen) {
      const isNewRun = run?.runId !== seenRun;
      const runs = isNewRun ? await store.runs(uid, RUNS) : [];
      const messages =
        messageCount === seenMessages ? null : await store.history(uid, { limit: MESSAGES, before: null });
      if (stopped) return;
      tellOnce(mark, { type: "thread", thread: threadView(record) });
      if (isNewRun) tell({ type: "runs", runs: newest(runs).map(runView) });
      if (run) tell({ type: "runs", runs: [runView(run)] });
      if (messages) {
        tell({
          type: "messages",
          messages: messages.map(({ id, role, content, createdAtMs, runId }) => ({
            id,
            role,
            content: cutText(content, MESSAGE_CHARS),
            createdAtMs,
            runId,
          })),
        });
      }
      seenRun = run?.runId ?? null;
      seenMessages = messageCount;
    }
    const stream = run ? `${run.runId} ${run.streamFrom}` : null;
    if (stream !== null && stream !== followed) await readAlong(stream);
  }

  async function readAlong(stream: string): Promise<void> {
    const opened = await threads.follow(uid);
    reply?.leave();
    reply = opened;
    followed = stream;
    if (stopped) return reply?.leave();
    const runId = reply?.runId ?? "";
    let fresh = true;
    reply?.read((lines: Line[]) => {
      if (stopped) return;
      tell({ type: "said", runId, fresh, lines: lines.map(shortened) });
      fresh = false;
      const last = lines.at(-1);
      // The run goes on elsewhere: the next look reads along anew.
      if (last?.type === "error" && last.code === "interrupted") followed = null;
      if (last && (last.type === "step" || isTerminal(last))) lookIn(SOON_MS);
    });
  }

  function tellOnce(mark: string, sight: Sight): void {
    if (stopped || mark === seen) return;
    seen = mark;
    tell(sight);
  }

  const beat = setInterval(() => tell({ type: "beat" }), BEAT_MS).unref();
  void look();

  return () => {
    stopped = true;
    clearInterval(beat);
    if (timer) clearTimeout(timer);
    reply?.leave();
    reply = null;
  };
}

/** As many of the newest runs as have MOVES moves together, and always the last. */
function newest(runs: readonly RunSummary[]): RunSummary[] {
  let moves = 0;
  const oldest = runs.findLastIndex((run) => (moves += run.path.length) > MOVES);
  return runs.slice(Math.min(oldest + 1, Math.max(0, runs.length - 1)));
}

function shortened(line: Line): Line {
  return line.type === "delta" ? { type: "delta", text: cutText(line.text, DELTA_CHARS) } : line;
}
