import { NOTHING_KEPT } from "../domain/kept-text.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { INTERRUPTED } from "./interrupted.ts";
import { retryDuringOutage } from "./retry-during-outage.ts";
import type { OpenReply } from "./reply.ts";
import type { RunLog } from "./run-log.ts";

/**
 * Replies that grow long, of one process.
 *
 * A reply is kept in parts of the store as it grows, and what is kept is let go here: a process holds a part or so of
 * each, however long replies grow and however many there are, and no save writes all of one at once. While a part is on
 * its way its model is not read on, which stops the far end, too.
 */
export interface LongReplies {
  /** Calls for each run of a held thread. */
  of(thread: { uid: string; fence: string; isOver: () => boolean }, log: RunLog): LongReply;
}

export interface LongReply {
  /** The run has said more. A promise: it must not say more before that resolves. */
  grew(): Promise<void> | undefined;
  /** Gives what the run has said since `from`, then what comes; reads first what is not here any more. */
  attach(reply: OpenReply, from: number): void;
}

/** Some 16,000 tokens: hardly any reply has a part. One takes about a millisecond. */
const PART_CHARS = 65_536;
/** After each part the store and this process are left to the others, for so many times as long as it took. */
const REST_TIMES = 2;
const MOST_REST_MS = 50;

type LongReplyDependencies = Pick<ThreadDependencies, "store" | "clock" | "timers" | "log" | "isCrowded">;

export function createLongReplies(dependencies: LongReplyDependencies): LongReplies {
  const { store, timers, log: plainLog, isCrowded = () => false } = dependencies;
  const inTurn = createTurnstile(dependencies);
  /** One whole text at a time is read for those who attach. */
  let attaching = Promise.resolve();

  return {
    of({ uid, fence, isOver }, log) {
      const { runId } = log;
      let keeping: Promise<void> | null = null;

      /** Until it is kept: while the store is away the reply waits, as its saves do. */
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
          // Whoever lost the thread hears so at the next commit.
          if (isKept) log.noteKept(text.length);
        } catch (error) {
          // What is in no part is in the next commit.
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
          // A store that is behind: what follows must not be shown as if it were the beginning.
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
 * One piece of work at a time, with rests; of those that wait the one with the greatest size is next. So where there are
 * too many long replies, they come to their ends one after another, and only a few have an unread megabyte at a time.
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
