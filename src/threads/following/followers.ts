import { isTerminal } from "../../../machines/line.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { HeldThread } from "../hold/held-thread.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import type { OpenReply } from "../hold/reply.ts";
import { positionAfter } from "../hold/run-log.ts";
import type { FollowMessage, SaidMessage } from "./messages.ts";

/** The holder's side of following: sends the lines of a run here to the instances that asked for them. */
export interface Followers {
  /** Another instance asks for the lines of a run. */
  add(message: FollowMessage): void;
  /** The run began here: serves the instances that asked for it too early. */
  begun(thread: HeldThread): void;
}

/** A reader of a run's log here that forwards to a mirror on another instance. */
interface Follower extends OpenReply {
  readonly thread: HeldThread;
  readonly position: number;
  renew(): void;
}

/** A follower is dropped if its mirror has not asked again for this long. */
const FOLLOWER_TTL_MS = 5_000;

type FollowerDependencies = Pick<ThreadDependencies, "store" | "clock">;

export function createFollowers(dependencies: FollowerDependencies, held: HeldThreads): Followers {
  const { clock } = dependencies;
  const followers = new Map<string, Follower>();
  /** Requests for runs that have not begun here. */
  const early = new Map<string, { message: FollowMessage; atMs: number }>();

  function keepForLater(key: string, message: FollowMessage): void {
    const now = clock.elapsed();
    for (const [other, { atMs }] of early) if (now - atMs > FOLLOWER_TTL_MS) early.delete(other);
    early.set(key, { message, atMs: now });
  }

  function add(message: FollowMessage): void {
    const key = `${message.runId} ${message.to}`;
    const thread = held.get(message.uid);
    // Not begun yet; or over already, which the mirror will see at its next read of the store.
    if (thread?.run?.runId !== message.runId) return keepForLater(key, message);
    const known = followers.get(key);
    if (known && !known.over && known.thread === thread && known.position <= message.from) {
      return known.renew();
    }
    known?.leave();
    const follower = createFollower(dependencies, thread, message, () => {
      if (followers.get(key) === follower) followers.delete(key);
    });
    followers.set(key, follower);
    thread.attach(follower, message.from);
  }

  return {
    add,

    begun(thread) {
      // Over already: to keep a request once more would make this loop endless.
      if (held.get(thread.uid) !== thread) return;
      for (const [key, { message }] of early) {
        if (message.runId !== thread.run?.runId) continue;
        early.delete(key);
        add(message);
      }
    },
  };
}

/** `onOver`: nothing more will be sent. A follower keeps its thread, and the run's whole log, in memory. */
function createFollower(
  { store, clock }: FollowerDependencies,
  thread: HeldThread,
  { runId, from, to }: FollowMessage,
  onOver: () => void,
): Follower {
  let position = from;
  let renewedAt = clock.elapsed();
  let over = false;
  const { fence, basePosition } = thread;

  function leave(): void {
    if (over) return;
    over = true;
    onOver();
  }

  return {
    runId,
    thread,

    get position() {
      return position;
    },

    get over() {
      return over;
    },

    renew() {
      renewedAt = clock.elapsed();
    },

    say(said) {
      if (over) return;
      if (clock.elapsed() - renewedAt > FOLLOWER_TTL_MS) return leave();
      const lines = said.filter((line) => !isTerminal(line));
      const terminal = said.find((line) => isTerminal(line)) ?? null;
      const message: SaidMessage = {
        type: "said",
        runId,
        fence,
        base: basePosition,
        from: position,
        lines,
        terminal,
      };
      store.send(to, message);
      position += positionAfter(lines);
      if (terminal) leave();
    },

    read() {},

    leave,
  };
}
