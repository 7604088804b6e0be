import { NOTHING_KEPT } from "../../domain/threads/kept-text.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { INTERRUPTED } from "../recover/interrupted.ts";
import { retryDuringOutage } from "../recover/retry-during-outage.ts";
import type { OpenReply } from "./reply.ts";
import type { RunLog } from "./run-log.ts";

/**
 * The long replies of one process.
 *
 * As a reply grows it is stored in parts, and each stored part is dropped from memory: a process holds about one part of
 * each reply, however long they grow, and no save writes a whole reply at once. While a part is being stored the model's
 * stream is not read, so the model server has to pause too.
 */
export interface LongReplies {
  /** Called for each run of a held thread. */
  of(thread: { uid: string; fence: string; isOver: () => boolean }, log: RunLog): LongReply;
}

export interface LongReply {
  /** The run has more text. A promise: read no more of the model before it resolves. */
  grew(): Promise<void> | undefined;
  /** Sends the run's lines since `from`, then new ones; reads from the store first what is no longer in memory. */
  attach(reply: OpenReply, from: number): void;
}

/** About 16,000 tokens: hardly any reply has a part. Storing one takes about a millisecond. */
const PART_CHARS = 65_536;
/** After each part this rests for so many times as long as the part took, to leave the store to others. */
const REST_TIMES = 2;
const MOST_REST_MS = 50;

type LongReplyDependencies = Pick<ThreadDependencies, "store" | "clock" | "timers" | "log" | "isCrowded">;

export function createLongReplies(dependencies: LongReplyDependencies): LongReplies {
  const { store, timers, log: plainLog, isCrowded = () => false } = dependencies;
  const inTurn = createTurnstile(dependencies);
  /** Whole texts for attaching readers are read one at a time. */
  let attaching = Promise.resolve();

  return {
    of({ uid, fence, isOver }, log) {
      const { runId } = log;
      let keeping: Promise<void> | null = null;

      /** Resolves when the part is stored: during an outage the reply waits, as its saves do. */
      async function keep(): Promise<void> {
        const text = log.rest;
        const part = { uid, fence, runId, nth: log.kept.parts, text };
        let told = false;
        try {
          const isKept = await retryDuringOutage(timers, () => store.keepPart(part), {
            isWanted: () => !isOver() && !log.terminal,
            onAway() {
              if (!told) plainLog.warn({ uid, runId }, "the store is away: a reply waits with a part");
              told = true;
            },
          });
          // Not kept: this process has lost the thread, which the next commit will report.
          if (isKept) log.noteKept(text.length);
        } catch (error) {
          // Text that is in no part goes into the next commit.
          plainLog.error({ uid, runId, err: error }, "cannot keep a part of a reply");
        }
      }

      async function attachWhole(reply: OpenReply, from: number): Promise<void> {
        if (reply.over) return;
        if (isCrowded()) return reply.say([INTERRUPTED]);
        try {
          let read = { ...NOTHING_KEPT, text: "" };
          while (read.parts < log.kept.parts) {
            const { kept } = log;
            read = { ...kept, text: await store.keptText(uid, runId, kept.parts) };
          }
          // The store lacks some text: what follows must not be shown as if it were the beginning.
          if (read.text.length !== read.chars) throw new Error("Cannot read all parts: the store lacks some");
          if (isOver() && !log.terminal) reply.say([INTERRUPTED]);
          else log.attach(reply, from, read.text);
        } catch (error) {
          plainLog.warn({ uid, runId, err: error }, "cannot read a reply again");
          reply.say([INTERRUPTED]);
        }
      }

      return {
        grew() {
          if (!keeping && log.textChars - log.kept.chars >= PART_CHARS) {
            keeping = inTurn(log.textChars, keep).finally(() => (keeping = null));
          }
          return keeping ?? undefined;
        },

        attach(reply, from) {
          if (log.has(from)) log.attach(reply, from);
          else attaching = attaching.then(() => attachWhole(reply, from));
        },
      };
    },
  };
}

/**
 * Runs one piece of work at a time, with rests; the largest one waiting is next. So when there are too many long replies
 * they finish one after another, and only a few have an unread megabyte at a time.
 */
function createTurnstile({
  clock,
  timers,
}: Pick<LongReplyDependencies, "clock" | "timers">): (
  size: number,
  work: () => Promise<void>,
) => Promise<void> {
  const waiting = new Map<() => void, number>();
  let isTaken = false;

  function letNextIn(): void {
    let next: (() => void) | null = null;
    for (const [enter, size] of waiting) if (size > (next ? (waiting.get(next) ?? 0) : -1)) next = enter;
    isTaken = next !== null;
    if (!next) return;
    waiting.delete(next);
    next();
  }

  return async (size, work) => {
    if (isTaken) await new Promise<void>((resolve) => waiting.set(resolve, size));
    isTaken = true;
    const begunAt = clock.elapsed();
    try {
      await work();
    } finally {
      const restMs = Math.min(REST_TIMES * (clock.elapsed() - begunAt), MOST_REST_MS);
      timers.after(restMs, letNextIn);
    }
  };
}
