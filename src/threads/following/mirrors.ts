import type { ErrorLine, Line, ProgressLine, TerminalLine } from "../../../machines/line.ts";
import { holderOf } from "../../domain/threads/fence.ts";
import { withText } from "../../domain/threads/kept-text.ts";
import { NewerRecord } from "../../store.ts";
import type { ThreadRecord } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { HeldThread } from "../hold/held-thread.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import { DELETED } from "../delete/deleted.ts";
import { INTERRUPTED } from "../recover/interrupted.ts";
import { refuseUnreadable } from "../recover/refuse-unreadable.ts";
import type { OpenReply } from "../hold/reply.ts";
import { beginsWith, createRunLog, linesSince, positionAfter } from "../hold/run-log.ts";
import type { RunLog } from "../hold/run-log.ts";
import type { FollowMessage, SaidMessage } from "./messages.ts";
import { findRun } from "./run-in-store.ts";
import type { RunInStore } from "./run-in-store.ts";

/** The reader's side of following: a log of each run that is read here and held elsewhere. */
export interface Mirrors {
  /** Follows the reply's run from `from`. `record`: the thread as just read, with that run. */
  follow(record: ThreadRecord, reply: OpenReply, from: number): void;
  /** Waits for a run that has not begun, in a thread that `fence` holds. */
  expect(uid: string, reply: OpenReply, fence: string): void;
  /** Lines from the holder. */
  receive(message: SaidMessage): void;
  /** The run began, or continues, in this process. */
  begun(thread: HeldThread): void;
  /** The thread was deleted: its streams end. */
  forget(uid: string): void;
  /** How many streams here follow a run, or wait for it to begin. */
  readers(): number;
  stop(): void;
}

/** How often a mirror reads the store. Messages are faster, so this only bounds the delay when one is lost. */
const LOOK_MS = 1_000;

type PastRun = Extract<RunInStore, { type: "past" }>;

const LOST: ErrorLine = { type: "error", message: "The service has lost this message" };

interface Mirror {
  uid: string;
  log: RunLog;
  /** The holder from which the log's lines came. */
  fence: string | null;
  /** Up to here the log is known to be saved, so every later holder continues from it. Lines after it are from `fence` only. */
  savedTo: number;
  callOff: () => void;
}

export function createMirrors(
  { store, timers, log: plainLog }: Pick<ThreadDependencies, "store" | "timers" | "log">,
  held: HeldThreads,
): Mirrors {
  const mirrors = new Map<string, Mirror>();

  function mirrorOf(uid: string, runId: string, lines: readonly ProgressLine[]): Mirror {
    const known = mirrors.get(runId);
    if (known) return known;
    const log = createRunLog(runId, lines);
    const mirror: Mirror = { uid, log, fence: null, savedTo: log.position, callOff() {} };
    mirrors.set(runId, mirror);
    lookLater(mirror);
    return mirror;
  }

  function drop(mirror: Mirror): void {
    mirror.callOff();
    mirrors.delete(mirror.log.runId);
  }

  function ask(mirror: Mirror, fence: string): void {
    const { uid, log } = mirror;
    const message: FollowMessage = {
      type: "follow",
      uid,
      runId: log.runId,
      from: log.position,
      to: store.processId,
    };
    store.send(holderOf(fence), message);
  }

  function lookLater(mirror: Mirror): void {
    mirror.callOff = timers.after(LOOK_MS, () => void look(mirror));
  }

  /** Reads from the store who holds the run now, or how it ended. */
  async function look(mirror: Mirror): Promise<void> {
    const { uid, log } = mirror;
    if ([...log.readers].every((reply) => reply.over)) return drop(mirror);
    try {
      const record = await store.load(uid, 1);
      if (isKnown(mirror)) await compare(mirror, record);
    } catch (error) {
      if (!(error instanceof NewerRecord))
        plainLog.warn({ uid, err: error }, "cannot look after a followed run");
      // Whoever attaches again is answered 503, and so reaches an instance that can read it.
      else if (isKnown(mirror)) cut(mirror);
    }
    if (isKnown(mirror)) lookLater(mirror);
  }

  function isKnown(mirror: Mirror): boolean {
    return mirrors.get(mirror.log.runId) === mirror;
  }

  async function compare(mirror: Mirror, record: ThreadRecord | null): Promise<void> {
    const { uid, log } = mirror;
    const run = await findRun(store, record, { uid, runId: log.runId });
    if (!isKnown(mirror)) return;
    switch (run.type) {
      case "ended":
        // Another holder may have ended it, with other text than was shown.
        if (!beginsWith(run.lines, log.lines)) return cut(mirror);
        return finish(mirror, run.lines, run.terminal);
      case "past": {
        const lines = await wholeOf(mirror, run);
        if (!isKnown(mirror)) return;
        // Of such a run it is not stored where in the text its steps stood: it can only be told as a whole.
        const isBegun = [...log.readers].some((reply) => log.toldTo(reply) > 0);
        return isBegun ? cut(mirror) : finish(mirror, lines, run.terminal);
      }
      case "held": {
        refuseUnreadable(record);
        if (!goesOn(mirror, run.fence, linesOf(record, log.runId))) return cut(mirror);
        const here = held.get(uid);
        if (here?.run?.runId === log.runId) return handOver(mirror, here);
        if (holderOf(run.fence) !== store.processId) ask(mirror, run.fence);
        return;
      }
      case "lost": {
        const { isDeleted } = await store.look(uid, null);
        if (isKnown(mirror)) cut(mirror, isDeleted ? DELETED : LOST);
        return;
      }
      case "free":
        return refuseUnreadable(record);
    }
  }

  async function wholeOf({ uid, log }: Mirror, { lines, parts }: PastRun): Promise<ProgressLine[]> {
    return withText(lines, parts > 0 ? await store.keptText(uid, log.runId, parts) : "");
  }

  /** Does this holder, whose run has these lines, continue from the log? */
  function goesOn(mirror: Mirror, fence: string, lines: readonly ProgressLine[]): boolean {
    if (mirror.fence === fence) return true;
    if (!beginsWith(lines, mirror.log.lines)) return false;
    mirror.fence = fence;
    mirror.savedTo = mirror.log.position;
    return true;
  }

  function finish(mirror: Mirror, lines: readonly ProgressLine[], terminal: TerminalLine): void {
    mirror.log.say([...linesSince(lines, mirror.log.position), terminal]);
    drop(mirror);
  }

  function cut(mirror: Mirror, line: ErrorLine = INTERRUPTED): void {
    mirror.log.cut(line);
    drop(mirror);
  }

  /** The run is held here now: attaches the readers to it directly. */
  function handOver(mirror: Mirror, thread: HeldThread): void {
    drop(mirror);
    const { log, savedTo } = mirror;
    const { kept, lines } = thread.log;
    // Text that is stored in parts is not in memory, and cannot be compared.
    const isAllSaved = kept.parts > 0 && log.position <= Math.min(savedTo, thread.basePosition);
    if (!isAllSaved && !goesOn(mirror, thread.fence, kept.parts > 0 ? [] : lines)) {
      return log.cut(INTERRUPTED);
    }
    for (const reply of log.readers) thread.attach(reply, log.toldTo(reply));
  }

  return {
    follow(record, reply, from) {
      const mirror = mirrorOf(record.uid, reply.runId, record.run?.lines ?? []);
      mirror.log.attach(reply, from);
      mirror.fence ??= record.fence;
      if (record.fence) ask(mirror, record.fence);
    },

    expect(uid, reply, fence) {
      const mirror = mirrorOf(uid, reply.runId, []);
      mirror.log.attach(reply, 0);
      if (holderOf(fence) !== store.processId) ask(mirror, fence);
    },

    receive({ runId, fence, base, from, lines, terminal }) {
      const mirror = mirrors.get(runId);
      if (!mirror) return;
      const { position } = mirror.log;
      // A late message: its lines are known, and its terminal line may be of a stream before the page's result.
      if (from + positionAfter(lines) < position) return;
      if (mirror.fence !== fence) {
        // The run was taken over: the new holder continues from the last save.
        if (position > base) return cut(mirror);
        // There may have been another holder in between: the next read of the store tells whether this text was saved.
        if (position > mirror.savedTo) return;
        mirror.fence = fence;
      }
      // The holder stopped: the run goes on elsewhere, and the store will say where.
      if (terminal?.type === "error" && terminal.code === "interrupted") return;
      if (from > position) return ask(mirror, fence);
      const news: Line[] = linesSince(lines, position - from);
      if (terminal) news.push(terminal);
      if (news.length > 0) mirror.log.say(news);
      mirror.savedTo = Math.max(mirror.savedTo, Math.min(base, mirror.log.position));
      if (terminal) drop(mirror);
    },

    begun(thread) {
      const mirror = thread.run && mirrors.get(thread.run.runId);
      if (mirror) handOver(mirror, thread);
    },

    forget(uid) {
      for (const mirror of mirrors.values()) if (mirror.uid === uid) cut(mirror, DELETED);
    },

    readers: () =>
      [...mirrors.values()].flatMap(({ log }) => [...log.readers]).filter((reply) => !reply.over).length,

    stop() {
      for (const mirror of mirrors.values()) {
        mirror.callOff();
        mirror.log.cut(INTERRUPTED);
      }
      mirrors.clear();
    },
  };
}

function linesOf(record: ThreadRecord | null, runId: string): readonly ProgressLine[] {
  return record?.run?.runId === runId ? record.run.lines : [];
}
