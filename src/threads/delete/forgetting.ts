import { holderOf } from "../../domain/threads/fence.ts";
import type { Deletion, InstanceMessage, Share } from "../../store.ts";
import { StoreUnavailable } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { carryOut, forget } from "./forget.ts";
import type { Erased } from "./forget.ts";
import type { Following } from "../following/following.ts";
import type { HeldThreads } from "../hold/held-threads.ts";
import type { Remembered } from "../hold/remembered.ts";
import { createSettling } from "./settle-deletions.ts";

/**
 * Deletion of threads and users (contract, Forgetting).
 *
 * The tombstone in the store wins over every late writer; everything else only makes it faster. The holder of a run is
 * notified, so that its streams end at once; if that message is lost, its next save or the next look here ends them. Each
 * instance looks at the planned deletions, and repeats those that are old enough (settle-deletions.ts).
 */
export interface Forgetting {
  /** Resolves when the deletion is durable. */
  thread(slug: string, uid: string): Promise<void>;
  user(slug: string, userId: string): Promise<void>;
  aged: AgedForgetting;
  /** A message that another instance deleted a thread held here; false if the message is something else. */
  receive(message: InstanceMessage): boolean;
  /** Looks at the planned deletions, now. */
  look(): Promise<void>;
  start(): void;
  stop(): void;
}

/** Deletions by retention: there are many, so they are not logged one by one. */
export interface AgedForgetting {
  /**
   * Deletes only if the thread's revision is still `rev`; false: the thread has changed. `rev` null: it is a tombstone
   * already. `note` is called once the deletion is certain, and possibly again if a process dies before the end.
   */
  thread(
    aged: { slug: string; uid: string; rev: number | null },
    note: () => Promise<void>,
  ): Promise<boolean>;
  user(slug: string, userId: string): Promise<void>;
}

const LOOK_MS = 5_000;
const AT_ONCE = 1_000;

export function createForgetting({
  store,
  clock,
  timers,
  log,
  random = Math.random,
  tellsDeletion,
  held,
  remembered,
  following,
  share,
  onErased,
}: Pick<ThreadDependencies, "store" | "clock" | "timers" | "log" | "random" | "tellsDeletion"> & {
  held: HeldThreads;
  remembered: Pick<Remembered, "forget">;
  following: Pick<Following, "forget">;
  share: () => Share;
  onErased: (erased: Erased) => void;
}): Forgetting {
  let callOff = () => {};
  let stopped = false;

  function endHere(uid: string): void {
    held.get(uid)?.forget();
    remembered.forget(uid);
    following.forget(uid);
  }

  function tell(erased: Erased): void {
    const { uid, fence } = erased;
    endHere(uid);
    const holder = fence === null ? null : holderOf(fence);
    if (holder !== null && holder !== store.processId) store.send(holder, { type: "deleted", uid });
    onErased(erased);
  }

  const settle = createSettling({
    store,
    clock,
    share,
    carryOut: (deletion) => carryOut(store, deletion, tell, tellsDeletion),
    onFailure: (error) => log.warn({ err: error }, "cannot carry out a deletion"),
    isStopped: () => stopped,
  });

  async function begin(kind: Deletion["kind"], slug: string, id: string): Promise<void> {
    await forget(store, { kind, slug, id, atMs: clock.now() }, tell, tellsDeletion);
    log.info({ slug, [kind === "user" ? "userId" : "uid"]: id }, `deleted a ${kind}`);
  }

  /** If the store's answer is late, its list of planned deletions tells whether the plan was written. */
  async function plan(deletion: Deletion): Promise<void> {
    const isSame = ({ kind, slug, id }: Deletion) =>
      kind === deletion.kind && slug === deletion.slug && id === deletion.id;
    try {
      await store.planDeletion(deletion);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (!(await store.plannedDeletions(AT_ONCE)).some(isSame)) throw error;
    }
  }

  const aged: AgedForgetting = {
    async thread({ slug, uid, rev }, note) {
      const deletion: Deletion = { kind: "thread", slug, id: uid, atMs: clock.now() };
      // Read before the erasure, while the data for the events still exists.
      const tells = (await tellsDeletion?.(deletion)) ?? [];
      // First of all: until this is done, a new message keeps the thread. After a crash here it is still on the list.
      if (rev !== null && (await store.eraseUnchanged(uid, deletion.atMs, rev)) === null) return false;
      await note();
      await plan(deletion);
      await carryOut(store, deletion, tell, async () => tells);
      return true;
    },
    async user(slug, userId) {
      const deletion: Deletion = { kind: "user", slug, id: userId, atMs: clock.now() };
      await plan(deletion);
      await carryOut(store, deletion, tell, tellsDeletion);
    },
  };

  /** What another process deleted, and its word did not come here: the command line beside the embedded store sends none. */
  function notice(uid: string): void {
    endHere(uid);
    onErased({ uid, fence: null, watchers: [] });
  }

  /** The names that led to the user's threads are gone: what is known are those in which something goes on here. */
  async function noticeThreadsOf(userId: string): Promise<void> {
    for (const { uid, run } of held.all()) {
      if (run?.userId !== userId) continue;
      // Of what cannot be read the next save says whether it is gone.
      const seen = await store.look(uid, null).catch(() => null);
      if (seen?.isDeleted) notice(uid);
    }
  }

  async function look(): Promise<void> {
    const planned = await store.plannedDeletions(AT_ONCE);
    for (const { kind, id } of planned) {
      if (kind === "thread") notice(id);
      else await noticeThreadsOf(id);
    }
    await settle(planned);
  }

  function later(): void {
    callOff = timers.after(LOOK_MS * (0.8 + 0.4 * random()), () => {
      void look()
        .catch((error: unknown) => {
          // The next look finds the store again.
          if (!(error instanceof StoreUnavailable)) log.warn({ err: error }, "cannot carry out deletions");
        })
        .finally(() => stopped || later());
    });
  }

  return {
    thread: (slug, uid) => begin("thread", slug, uid),
    user: (slug, userId) => begin("user", slug, userId),

    aged,

    receive({ type, uid }) {
      if (type !== "deleted" || typeof uid !== "string") return false;
      endHere(uid);
      return true;
    },

    look,
    start: later,
    stop() {
      stopped = true;
      callOff();
    },
  };
}
