import type { InstanceMessage, ThreadRecord } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { HeldThread } from "../hold/held-thread.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import type { OpenReply } from "../hold/reply.ts";
import { createFollowers } from "./followers.ts";
import { readFollow, readSaid } from "./messages.ts";
import { createMirrors } from "./mirrors.ts";

/**
 * Follows a run that another instance holds, or that has not begun yet.
 *
 * A mirror here keeps a log of the run (mirrors.ts). It asks the holder for the lines since a position, and a follower at
 * the holder then sends each new line (followers.ts). Messages may be lost: a mirror that sees a gap asks again, and once a
 * second every mirror reads the store, which knows who holds the run now or how it ended. When the holder changes, the new
 * one continues from the last save: readers ahead of the last save are disconnected (`interrupted`), and re-attach.
 */
export interface Following {
  /** Follows the reply's run from `from`. `record`: the thread as just read, with that run. */
  follow(record: ThreadRecord, reply: OpenReply, from: number): void;
  /** Waits for a run that has not begun, in a thread that `fence` holds. */
  expect(uid: string, reply: OpenReply, fence: string): void;
  /** The run began, or continues, in this process. */
  begun(thread: HeldThread): void;
  /** The thread was deleted: its streams end. */
  forget(uid: string): void;
  /** How many streams here follow a run, or wait for it to begin. */
  readers(): number;
  /** A message of another instance; false if it is not about following. */
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
