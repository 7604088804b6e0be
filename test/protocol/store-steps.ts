import type { Rules } from "./rules.ts";
import { holderOf } from "./state.ts";
import type { Answer, Commit, Fence, Op, Request, Shard, Thread } from "./state.ts";

/**
 * The store's atomic steps in the slot of the threads, comparison by comparison as in stores/redis-functions.lua. Each
 * answers the slot after it, and the rule that it broke, by what a thread's owner and past are and not by what the step
 * compared.
 */
export interface Served {
  shard: Shard;
  answer: Answer;
  broken: string | null;
}

export function serve(shard: Shard, request: Request, rules: Rules): Served {
  const thread = threadAt(shard, request.thread);
  if (request.type === "commit") return commit(shard, thread, request, rules);
  if (thread.fence === null) return refused(shard, "free");
  return enqueue(shard, request.thread, request.message);
}

export function threadAt(shard: Shard, nth: number): Thread {
  const thread = shard.threads[nth];
  if (!thread) throw new Error("Cannot find a thread of the model");
  return thread;
}

function refused(shard: Shard, type: "changed" | "fenced" | "free" | "barred"): Served {
  return { shard, answer: { type }, broken: null };
}

function withThread(shard: Shard, nth: number, thread: Thread): Shard {
  return { ...shard, threads: shard.threads.map((one, i) => (i === nth ? thread : one)) };
}

export function isOp(a: Op | null, b: Op | null): boolean {
  return a === b || (a !== null && b !== null && a.fence === b.fence && a.rev === b.rev);
}

/** Once only for each message: one that waits, or whose run has begun, is known. */
function enqueue(shard: Shard, nth: number, message: number): Served {
  const thread = threadAt(shard, nth);
  const isKnown =
    thread.run?.message === message || thread.ended.includes(message) || thread.queue.includes(message);
  const queue = isKnown ? thread.queue : [...thread.queue, message];
  return { shard: withThread(shard, nth, { ...thread, queue }), answer: { type: "waiting" }, broken: null };
}

function commit(shard: Shard, thread: Thread, request: Commit, rules: Rules): Served {
  const { fence, claims, takesFrom, rev } = request;
  const { mistakes } = rules;
  const isRepeat = isOp(thread.lastOp, { fence, rev });
  if (isRepeat && !mistakes.includes("does not compare the operation id")) {
    const next = thread.lastHadNext ? (thread.queue[0] ?? null) : null;
    return { shard, answer: { type: "committed", rev: thread.rev, next }, broken: null };
  }
  const isHeldByAnother = thread.fence !== null && thread.fence !== fence;
  const mayTake = takesFrom !== null && mistakes.includes("does not compare takesFrom");
  const mayAll = mistakes.includes("does not compare the fence") && !claims;
  if (isHeldByAnother && thread.fence !== takesFrom && !mayTake && !mayAll) {
    if (claims && request.orWait !== null) return enqueue(shard, request.thread, request.orWait);
    return withRepeat(refused(shard, "fenced"), isRepeat);
  }
  if (!claims && thread.fence !== fence && !mayAll) return withRepeat(refused(shard, "fenced"), isRepeat);
  if (thread.rev !== rev && !mistakes.includes("does not compare the revision")) {
    return withRepeat(refused(shard, "changed"), isRepeat);
  }
  if (claims && rules.comparesLastOp && !isOp(thread.lastOp, request.readOp))
    return refused(shard, "changed");
  if (claims && rules.bars && isBarred(shard, request)) return refused(shard, "barred");
  if (request.starts !== null && thread.queue[0] !== request.starts) return refused(shard, "changed");
  return write(shard, thread, request, rules);
}

function withRepeat(served: Served, isRepeat: boolean): Served {
  const broken = isRepeat ? "a repeat of what was just done is not answered as the first one was" : null;
  return { ...served, broken };
}

function isBarred({ bars }: Shard, { fence, heard }: Commit): boolean {
  const until = bars[holderOf(fence)] ?? 0;
  return until > 0 && heard <= until;
}

function write(shard: Shard, thread: Thread, request: Commit, rules: Rules): Served {
  const { fence, rev, run, ends, starts } = request;
  const queue = starts === null ? thread.queue : thread.queue.slice(1);
  const looksAtQueue = !rules.mistakes.includes("a release forgets the queue");
  const next = looksAtQueue ? (queue[0] ?? null) : null;
  const isHeld = request.holds || next !== null;
  const own = thread.own.filter((one) => one !== thread.fence && one !== fence);
  const lists = rules.lists && isHeld && !rules.mistakes.includes("a claim does not list its owner");
  const after: Thread = {
    fence: isHeld ? fence : null,
    rev: thread.rev + 1,
    lastOp: { fence, rev },
    lastHadNext: next !== null,
    run,
    queue,
    ended: ends === null ? thread.ended : [...thread.ended, ends],
    own: isHeld ? [...own, fence] : own,
  };
  const written = withThread(shard, request.thread, after);
  return {
    shard: lists ? list(written, holderOf(fence)) : written,
    answer: { type: "committed", rev: after.rev, next },
    broken: brokenBy(thread, request),
  };
}

function list(shard: Shard, process: number): Shard {
  if (shard.listed[process]) return shard;
  return { ...shard, listed: shard.listed.map((isListed, i) => isListed || i === process) };
}

/** What is wrong with a commit that was let in. */
function brokenBy(thread: Thread, { fence, claims, takesFrom, ends, run, rev }: Commit): string | null {
  if (!claims && thread.fence !== fence) return "a process commits that does not own the thread";
  if (claims && thread.fence !== null && thread.fence !== fence && thread.fence !== takesFrom) {
    return "a claim takes the thread from an owner that it does not name";
  }
  if (isOp(thread.lastOp, { fence, rev })) return "a repeat is done twice";
  if (ends !== null && thread.ended.includes(ends)) return "a message is answered twice";
  if (run && thread.ended.includes(run.message)) return "a message that was answered runs again";
  return null;
}

/** Which of its fences a process holds threads by, for whoever takes up what it held. */
export function heldBy(shard: Shard, process: number): { thread: number; fence: Fence }[] {
  return shard.threads.flatMap(({ own }, thread) =>
    own.filter((fence) => holderOf(fence) === process).map((fence) => ({ thread, fence })),
  );
}

/**
 * Before a process is forgotten: it comes off the list of holders, and from now on claims nothing here on a beat up to
 * this one. Null where it holds something.
 */
export function leave(shard: Shard, process: number, stamp: number, rules: Rules): Shard | null {
  if (heldBy(shard, process).length > 0 && !rules.mistakes.includes("strikes owners off the list"))
    return null;
  const isIt = (i: number) => i === process;
  return {
    ...shard,
    listed: rules.lists ? shard.listed.map((isListed, i) => isListed && !isIt(i)) : shard.listed,
    bars: rules.bars ? shard.bars.map((until, i) => (isIt(i) ? Math.max(until, stamp) : until)) : shard.bars,
  };
}

/** Every message that a slot knows of: waiting, running, or answered. */
export function messagesIn({ threads }: Shard): number[] {
  return threads.flatMap(({ queue, run, ended }) => [...queue, ...(run ? [run.message] : []), ...ended]);
}
