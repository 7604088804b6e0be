import type { InstanceMessage, ThreadRecord } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { HeldThread } from "../held-thread.ts";
import type { HeldThreads } from "../held-threads.ts";
import type { OpenReply } from "../reply.ts";
import { createFollowers } from "./followers.ts";
import { readFollow, readSaid } from "./messages.ts";
import { createMirrors } from "./mirrors.ts";

/**
 * Reading along with a run that another instance holds, or that has not begun yet.
 *
 * Here a mirror keeps a log of the run (mirrors.ts). It asks the holder for what was said since a position, and the
 * holder's follower then sends each line as it is said (followers.ts). Messages may be lost: a mirror that sees a gap
 * asks again, and once a second every mirror looks into the store, which knows who holds the run now or how it ended.
 * When the run's holder changes, what the new one says must go on from what was saved: a reader who was told more than
 * that is cut off (`interrupted`) and re-attaches.
 */
export interface Following {
  /** Reads along from `from` on. `record`: the thread as it was just read, with the reply's run. */
  follow(record: ThreadRecord, reply: OpenReply, from: number): void;
  /** Waits for a run that has not begun, in a thread that `fence` holds. */
  expect(uid: string, reply: OpenReply, fence: string): void;
  /** The run began, or goes on, in this process. */
  begun(thread: HeldThread): void;
  /** The thread was deleted: its streams end. */
  forget(uid: string): void;
  /** How many streams here read along, or wait for their run. */
  readers(): number;
  /** A message of another instance that concerns following; false where it does not. */
  receive(message: InstanceMessage): boolean;
  stop(): void;
}

export function createFollowing({
  held,
  ...dependencies
}: ThreadDependencies & { held: HeldThreads }): Following {
  const mirrors = createMirrors(dependencies, held);
  const followers = createFollowers(dependencies, held);

  return {
    follow: (record, reply, from) => mirrors.follow(record, reply, from),
    expect: (uid, reply, fence) => mirrors.expect(uid, reply, fence),
    forget: (uid) => mirrors.forget(uid),
    readers: () => mirrors.readers(),
    stop: () => mirrors.stop(),

    begun(thread) {
      mirrors.begun(thread);
      followers.begun(thread);
    },

    receive(message) {
      const follow = readFollow(message);
      if (follow) followers.add(follow);
      const said = follow ? null : readSaid(message);
      if (said) mirrors.receive(said);
      return follow !== null || said !== null;
    },
  };
}
