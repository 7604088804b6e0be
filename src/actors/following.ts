import type { ErrorLine, Line, ProgressLine, TerminalLine } from "../../machines/line.ts";
import { isTerminal } from "../../machines/line.ts";
import { holderOf } from "../domain/fence.ts";
import type { InstanceMessage, Store, ThreadRecord } from "../store.ts";
import { INTERRUPTED } from "./interrupted.ts";
import type { LiveThread } from "./live-thread.ts";
import type { PlainLog } from "../log.ts";
import type { OpenReply } from "./reply.ts";
import { createRunLog, linesSince, positionAfter } from "./run-log.ts";
import type { RunLog } from "./run-log.ts";

/**
 * Reading along with a run that another instance holds, or that has not begun yet.
 *
 * Here a mirror keeps a log of the run. It asks the holder by message for what was said since a position, and the
 * holder's follower then sends each line as it is said. Messages may be lost: a mirror that sees a gap asks again, and
 * once a second every mirror looks into the store, which knows who holds the run now or how it ended. When the run's
 * holder changes, what the new one says must go on from what was saved: a reader who was told more than that is cut
 * off (`interrupted`) and re-attaches.
 */
export interface Following {
  /** Reads along from `from` on. `record`: the thread as it was just read. */
  follow(record: ThreadRecord, runId: string, reply: OpenReply, from: number): void;
  /** Waits for a run that has not begun, in a thread that `fence` holds. */
  expect(uid: string, runId: string, reply: OpenReply, fence: string): void;
  /** The run began, or goes on, in this process. */
  begun(thread: LiveThread): void;
  /** How many streams here read along, or wait for their run. */
  readers(): number;
  /** A message that concerns following; false where it does not. */
  take(message: InstanceMessage): boolean;
  stop(): void;
}

/** How often a mirror looks into the store; messages bring everything sooner, so this only bounds what a lost one costs. */
const LOOK_MS = 1_000;
/** A follower that was not asked for again for so long is dropped. */
const FOLLOWER_TTL_MS = 5_000;

const LOST: ErrorLine = { type: "error", message: "The service has lost this message" };

/** Both are types, not interfaces: those would be no records, and so no messages. */
type FollowLetter = {
  type: "follow";
  uid: string;
  runId: string;
  from: number;
  to: string;
};

type SaidLetter = {
  type: "said";
  runId: string;
  /** Who says it, and what of the run was saved when it took the run. */
  fence: string;
  base: number;
  from: number;
  lines: ProgressLine[];
  terminal: TerminalLine | null;
};

function isFollow(message: InstanceMessage): message is FollowLetter {
  return message["type"] === "follow";
}

function isSaid(message: InstanceMessage): message is SaidLetter {
  return message["type"] === "said";
}

interface Mirror {
  uid: string;
  log: RunLog;
  fence: string | null;
  looking: boolean;
  timer: NodeJS.Timeout;
}

export function createFollowing(parts: {
  store: Store;
  log: PlainLog;
  /** The thread, where this process holds it. */
  live(uid: string): LiveThread | undefined;
}): Following {
  const { store } = parts;
  const mirrors = new Map<string, Mirror>();
  const followers = new Map<string, Follower>();
  /** Who asked for a run that has not begun here, by run. */
  const asked = new Map<string, { message: FollowLetter; atMs: number }>();

  function mirrorOf(uid: string, runId: string, said: readonly ProgressLine[]): Mirror {
    const known = mirrors.get(runId);
    if (known) return known;
    const mirror: Mirror = {
      uid,
      log: createRunLog(runId, said),
      fence: null,
      looking: false,
      timer: setInterval(() => void look(mirror), LOOK_MS).unref(),
    };
    mirrors.set(runId, mirror);
    return mirror;
  }

  function drop(mirror: Mirror): void {
    clearInterval(mirror.timer);
    mirrors.delete(mirror.log.runId);
  }

  function ask(mirror: Mirror, fence: string): void {
    const message: FollowLetter = {
      type: "follow",
      uid: mirror.uid,
      runId: mirror.log.runId,
      from: mirror.log.position,
      to: store.processId,
    };
    store.send(holderOf(fence), message);
  }

  /** The store's view of the run: who holds it now, or how it ended. */
  async function look(mirror: Mirror): Promise<void> {
    if (mirror.looking) return;
    if ([...mirror.log.readers].every((reply) => reply.over)) return drop(mirror);
    mirror.looking = true;
    try {
      const record = await store.load(mirror.uid, 1);
      if (mirrors.get(mirror.log.runId) === mirror) await compare(mirror, record);
    } catch (error) {
      parts.log.warn({ uid: mirror.uid, err: error }, "cannot look after a followed run");
    } finally {
      mirror.looking = false;
    }
  }

  async function compare(mirror: Mirror, record: ThreadRecord | null): Promise<void> {
    const { runId } = mirror.log;
    if (record?.run?.runId === runId) {
      if (record.run.terminal) {
        finish(mirror, record.run.lines, record.run.terminal);
      } else if (record.fence) {
        const here = parts.live(mirror.uid);
        if (here?.run?.runId === runId) handOver(mirror, here);
        else ask(mirror, record.fence);
      }
      return;
    }
    const ended = (await store.runs(mirror.uid, 50)).find((run) => run.runId === runId && run.outcome);
    if (!ended) {
      // What waits is held: a store that has neither has lost what it had acknowledged.
      if (!record?.fence) return cut(mirror, LOST);
      // It waits for its turn: whoever holds the thread will run it.
      if (holderOf(record.fence) !== store.processId) ask(mirror, record.fence);
      return;
    }
    const history = await store.history(mirror.uid, { limit: 100, before: null });
    const kept = history.find((message) => message.runId === runId && message.role === "assistant");
    const lines: ProgressLine[] = (kept?.steps ?? []).map((step) => ({ type: "step", ...step }));
    if (kept) lines.push({ type: "delta", text: kept.content });
    if (mirror.log.position > 0) cut(mirror);
    else finish(mirror, lines, ended.terminal ?? INTERRUPTED);
  }

  function finish(mirror: Mirror, lines: readonly ProgressLine[], terminal: TerminalLine): void {
    mirror.log.say([...linesSince(lines, mirror.log.position), terminal]);
    drop(mirror);
  }

  function cut(mirror: Mirror, line: ErrorLine = INTERRUPTED): void {
    mirror.log.cut(line);
    drop(mirror);
  }

  function handOver(mirror: Mirror, thread: LiveThread): void {
    drop(mirror);
    if (mirror.log.position > thread.basePosition && mirror.fence !== thread.fence)
      return mirror.log.cut(INTERRUPTED);
    for (const reply of mirror.log.readers) thread.attach(reply, mirror.log.position);
  }

  /** What the holder said, at the mirror. */
  function hear(message: SaidLetter): void {
    const mirror = mirrors.get(message.runId);
    if (!mirror) return;
    if (mirror.fence !== message.fence) {
      if (mirror.fence !== null && mirror.log.position > message.base) return cut(mirror);
      mirror.fence = message.fence;
    }
    const { position } = mirror.log;
    // The holder was stopped: the run goes on elsewhere, and the store will say where.
    if (message.terminal?.type === "error" && message.terminal.code === "interrupted") return;
    if (message.from > position) return ask(mirror, message.fence);
    const lines: Line[] = linesSince(message.lines, position - message.from);
    if (message.terminal) lines.push(message.terminal);
    if (lines.length > 0) mirror.log.say(lines);
    if (message.terminal) drop(mirror);
  }

  /** Another instance asks to be sent what a run says here. */
  function sendAlong(message: FollowLetter): void {
    const key = `${message.runId} ${message.to}`;
    const thread = parts.live(message.uid);
    if (thread?.run?.runId !== message.runId) {
      // Over already, which the mirror's next look at the store tells it, or not begun yet.
      const now = performance.now();
      for (const [other, { atMs }] of asked) if (now - atMs > FOLLOWER_TTL_MS) asked.delete(other);
      asked.set(key, { message, atMs: now });
      return;
    }
    const known = followers.get(key);
    if (known && !known.over && known.thread === thread && known.position <= message.from)
      return known.renew();
    known?.leave();
    const follower = createFollower(store, thread, message, () => {
      if (followers.get(key) === follower) followers.delete(key);
    });
    followers.set(key, follower);
    thread.attach(follower, message.from);
  }

  return {
    follow(record, runId, reply, from) {
      const mirror = mirrorOf(record.uid, runId, record.run?.runId === runId ? record.run.lines : []);
      mirror.log.attach(reply, from);
      if (record.fence) ask(mirror, record.fence);
    },

    expect(uid, runId, reply, fence) {
      const mirror = mirrorOf(uid, runId, []);
      mirror.log.attach(reply, 0);
      if (holderOf(fence) !== store.processId) ask(mirror, fence);
    },

    begun(thread) {
      const mirror = thread.run && mirrors.get(thread.run.runId);
      if (mirror) handOver(mirror, thread);
      if (asked.size === 0) return;
      for (const [key, { message }] of asked) {
        if (message.runId !== thread.run?.runId) continue;
        asked.delete(key);
        sendAlong(message);
      }
    },

    readers: () =>
      [...mirrors.values()].flatMap(({ log }) => [...log.readers]).filter((reply) => !reply.over).length,

    take(message) {
      if (isFollow(message)) sendAlong(message);
      else if (isSaid(message)) hear(message);
      else return false;
      return true;
    },

    stop() {
      for (const mirror of mirrors.values()) {
        mirror.log.cut(INTERRUPTED);
        clearInterval(mirror.timer);
      }
      mirrors.clear();
    },
  };
}

/** A reader of a log here that is another instance's mirror there. */
interface Follower extends OpenReply {
  readonly thread: LiveThread;
  readonly position: number;
  renew(): void;
}

/** `onOver`: nothing more will be sent. A follower holds its thread, and with it all that the run said. */
function createFollower(store: Store, thread: LiveThread, asked: FollowLetter, onOver: () => void): Follower {
  let position = asked.from;
  let renewedAt = performance.now();
  let over = false;
  const { fence, basePosition } = thread;

  function leave(): void {
    if (over) return;
    over = true;
    onOver();
  }

  return {
    runId: asked.runId,
    thread,

    get position() {
      return position;
    },

    get over() {
      return over;
    },

    renew() {
      renewedAt = performance.now();
    },

    say(lines) {
      if (performance.now() - renewedAt > FOLLOWER_TTL_MS) return leave();
      const progress = lines.filter((line) => !isTerminal(line));
      const terminal = lines.find((line) => isTerminal(line)) ?? null;
      const message: SaidLetter = {
        type: "said",
        runId: asked.runId,
        fence,
        base: basePosition,
        from: position,
        lines: progress,
        terminal,
      };
      store.send(asked.to, message);
      position += positionAfter(progress);
      if (terminal) leave();
    },

    read() {},

    leave,
  };
}
