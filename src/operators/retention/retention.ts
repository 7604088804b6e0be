import type { AgedForgetting } from "../../threads/delete/forgetting.ts";
import { isInShare } from "../../threads/delete/in-share.ts";
import { realPace } from "../../threads/delete/try-each.ts";
import type { Pace } from "../../threads/delete/try-each.ts";
import type { Clock, Timers } from "../../clock.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import { RETENTION } from "../../domain/people/operator.ts";
import type { PlainLog } from "../../log.ts";
import { StoreUnavailable } from "../../store.ts";
import type { RestingThread, Share } from "../../store.ts";
import { createNoteOnce } from "../noted-once.ts";
import { sweepUsers } from "./retained-users.ts";
import { sweepEach } from "./retention-sweep.ts";
import type { RetentionProgress, RetentionStore, Sweep } from "./retention-sweep.ts";

/**
 * Deletes what is past its date (contract, Forgetting: the channel field `retention`), a part at a time, and files that nobody has named. Each channel
 * is swept by one instance, by its share; progress is in the store: a deleted thread leaves the channel's order, of
 * which only the oldest end is read, and the walk over users saves its place. A step that is late or fails delays only
 * itself: its next try continues after the finished steps, and the others continue meanwhile.
 *
 * All instances check every deletion again (../threads/delete/forgetting.ts), so the number in progress is limited: about 25 a
 * second, over all channels. Many deletions that become due at once are spread over the hours that this takes.
 */
export interface Retention {
  start: () => void;
  stop: () => void;
  /** A part of the sweep; resolves to whether there is more to do. */
  look: () => Promise<boolean>;
}

const DAY_MS = 86_400_000;
const FIRST_LOOK_MS = 1_000;
const LOOK_MS = 60_000;
/** While another instance sweeps a channel: it may be gone. Costs the store nothing. */
const SHARE_LOOK_MS = 10_000;
/** While there is more. */
const STEP_MS = 2_000;
/** Between two looks at files that no message has named. */
const UPLOADS_MS = 3_600_000;
const THREADS_AT_ONCE = 100;
/** A user whose turn fails this often in a row is left to the next walk. */
const MOST_TRIES = 3;
/** Deletions under way, those of others too: as many as a look at them reads. */
const MOST_PLANNED = 1_000;

export function createRetention(options: {
  store: RetentionStore;
  forgets: AgedForgetting;
  channels: () => readonly Channel[];
  share: () => Share;
  clock: Pick<Clock, "now">;
  timers: Timers;
  log: Pick<PlainLog, "warn">;
  progress: RetentionProgress;
  random?: () => number;
  pace?: Pace;
}): Retention {
  const { store, forgets, channels, share, clock, timers, log, progress } = options;
  const { random = Math.random, pace = realPace } = options;
  const acting = { store, clock, operator: RETENTION };
  const note = createNoteOnce(acting, ({ action, slug }) => {
    if (slug !== null) progress.deleted(slug, action === "users.delete" ? "user" : "thread");
  });
  const onFailure = (error: unknown) => log.warn({ err: error }, "cannot delete what is past its date");
  const stuckAt = new Map<string, { place: string; tries: number }>();
  let callOff = () => {};
  let stopped = false;
  let leavesSome = false;
  let uploadsAtMs = 0;

  function isStuck(slug: string, place: string): boolean {
    const before = stuckAt.get(slug);
    const tries = before?.place === place ? before.tries + 1 : 1;
    stuckAt.set(slug, { place, tries });
    return tries >= MOST_TRIES;
  }

  async function sweep({ slug, retention = {} }: Channel): Promise<boolean> {
    const { threadsDays, anonymousDays } = retention;
    const of: Sweep = {
      slug,
      store,
      forgets,
      note,
      progress,
      pace,
      isStopped: () => stopped,
      isStuck: (place) => isStuck(slug, place),
      onFailure,
    };
    const untilMs = (days: number) => clock.now() - days * DAY_MS;
    const hasThreads = threadsDays !== undefined && (await sweepThreads(of, untilMs(threadsDays)));
    const hasUsers = anonymousDays !== undefined && (await sweepUsers(of, untilMs(anonymousDays)));
    return hasThreads || hasUsers;
  }

  /** Each instance: what is dropped already costs one list. */
  async function dropUploads(): Promise<void> {
    if (clock.now() - uploadsAtMs < UPLOADS_MS) return;
    uploadsAtMs = clock.now();
    await store.dropOldUploads();
  }

  async function look(): Promise<boolean> {
    let hasMore = false;
    leavesSome = false;
    await dropUploads();
    for (const channel of channels()) {
      if (channel.retention === undefined || stopped) continue;
      if (!isInShare(channel.slug, share())) {
        leavesSome = true;
        continue;
      }
      const planned = await store.plannedDeletions(MOST_PLANNED);
      if (planned.length > MOST_PLANNED - THREADS_AT_ONCE) return true;
      if (await sweep(channel)) hasMore = true;
    }
    return hasMore;
  }

  function later(ms: number): void {
    callOff = timers.after(ms * (0.8 + 0.2 * random()), () => {
      void look()
        .catch((error: unknown) => {
          // Soon again: the next look finds the store, and goes on.
          if (error instanceof StoreUnavailable) return true;
          onFailure(error);
          return false;
        })
        .then((hasMore) => stopped || later(hasMore ? STEP_MS : leavesSome ? SHARE_LOOK_MS : LOOK_MS));
    });
  }

  return {
    start: () => later(FIRST_LOOK_MS),
    stop() {
      stopped = true;
      callOff();
    },
    look,
  };
}

/** The oldest threads. A held one stays until its runs have ended: their replies are messages. */
async function sweepThreads(sweep: Sweep, untilMs: number): Promise<boolean> {
  const { slug, store, progress } = sweep;
  const page = await store.restingThreads(slug, { untilMs, limit: THREADS_AT_ONCE, after: null });
  let { items, next } = page;
  progress.overdue(slug, Math.max(0, untilMs - (items[0]?.updatedAtMs ?? untilMs)));
  // None of these can go, but others behind them may.
  while (next !== null && !items.some(isOver)) {
    ({ items, next } = await store.restingThreads(slug, { untilMs, limit: THREADS_AT_ONCE, after: next }));
  }
  const left = await sweepEach(sweep, items.filter(isOver), (thread) => deleteThread(sweep, thread));
  return left.length > 0 || next !== null;
}

function isOver({ isHeld }: RestingThread): boolean {
  return !isHeld;
}

async function deleteThread({ slug, forgets, note }: Sweep, { uid, rev }: RestingThread): Promise<void> {
  await forgets.thread({ slug, uid, rev }, () => note({ action: "threads.delete", target: uid, slug }));
}
