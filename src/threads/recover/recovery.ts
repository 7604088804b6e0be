import type { Heartbeat, Hold, InstanceStore, Share } from "../../store.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { LostThreads } from "./lost-threads.ts";
import type { Silence } from "./silence.ts";
import type { TakeUp } from "./take-up.ts";

/**
 * The sweep: every instance beats, takes up the threads of instances that do not, and ends calls that expired.
 *
 * Safety does not depend on it: two sweepers may claim one thread, and the store's fence lets one of them win. So a wrong
 * guess costs no more than an interrupted stream.
 *
 * Searches over all threads are divided: each instance searches its share, by its rank among the instances that beat.
 * They may disagree for a moment; then a share is searched twice, or a little later.
 */
export interface Recovery {
  /** Resolves after the first sweep: by then a restarted process has taken up the runs of its former life. */
  start(): Promise<void>;
  stop(): void;
  /** This process's share of all threads. */
  share(): Share;
  /** Has this process stopped beating? */
  isSilent(processId: string): boolean;
}

/** How often this process beats, whatever else it is busy with. */
const BEAT_MS = 300;
/** With many instances each beats less often: a hundred of them send the store no more than 220 beats a second. */
const BEAT_MS_PER_INSTANCE = 4.5;
const LONGEST_BEAT_MS = 450;
/**
 * A process silent for this long is taken for dead. Five beats survive two lost packets in a row (0.6 s) and any pause of
 * a garbage collector; and in nine of ten deaths the runs go on within two seconds.
 */
const SILENT_MS = 1_500;
/**
 * A process that is late itself gives the others as much more time: they share its store, and often its machine. Measured:
 * services starved on one core beat up to 3.4 s apart, and taking each other's runs only adds to the load.
 */
const MOST_LATE_MS = 3_000;
/** The lateness decays by this factor with each beat on time: half of it is left after four seconds. */
const FORGIVEN = 0.95;
/** How often the sweep looks for expired calls. */
const DUE_MS = 2_500;
/** How often it looks for holders without a heartbeat, which only a failover or a restored backup leaves. */
const HOLDERS_MS = 20_000;
/** How many threads are taken up at once, so that the death of a large process does not overload the others. */
const TAKES_AT_ONCE = 16;
const DUE_AT_ONCE = 100;

export function createRecovery({
  store,
  clock,
  timers,
  log,
  random = Math.random,
  silence,
  lost,
  takeUp,
}: Pick<ThreadDependencies, "clock" | "timers" | "log" | "random"> & {
  store: Omit<InstanceStore, "retire" | "send" | "onMessage">;
  silence: Silence;
  lost: LostThreads;
  takeUp: TakeUp;
}): Recovery {
  let silent: Heartbeat[] = [];
  let callOff = () => {};
  let forgetReconnects = () => {};
  let looking: Promise<void> | null = null;
  let stopped = false;
  let lastBeatAt = -Infinity;
  let lateMs = 0;
  let trustsSilenceFrom = -Infinity;
  let lastDueLookAt = -Infinity;
  let lastHoldersLookAt = -Infinity;

  async function beat(): Promise<void> {
    const everyMs = beatMs();
    await silence.look(() => store.beat());
    const now = clock.elapsed();
    const late = Number.isFinite(lastBeatAt) ? now - lastBeatAt - everyMs : 0;
    // Unusually late, by an outage or a pause of this process: distrust silence until peers have had time to beat.
    if (late > lateMs + everyMs) trustsSilenceFrom = now + SILENT_MS;
    lateMs = Math.min(Math.max(late, lateMs * FORGIVEN), MOST_LATE_MS);
    lastBeatAt = now;
    silent = now >= trustsSilenceFrom ? silence.longerThan(SILENT_MS + lateMs) : [];
  }

  /** The processes that beat, including this one. */
  function alive(): string[] {
    const known = new Set(silence.known()).add(store.processId);
    for (const { processId } of silent) known.delete(processId);
    return [...known].sort();
  }

  function share(): Share {
    const everybody = alive();
    return { rank: everybody.indexOf(store.processId), of: everybody.length };
  }

  function beatMs(): number {
    return Math.min(Math.max(BEAT_MS, alive().length * BEAT_MS_PER_INSTANCE), LONGEST_BEAT_MS);
  }

  async function lookAround(): Promise<void> {
    const now = clock.elapsed();
    for (const heartbeat of silent)
      await tryTo("take up what a silent process holds", () => inherit(heartbeat));
    if (now - lastDueLookAt > DUE_MS) {
      lastDueLookAt = now;
      for (const uid of await store.due(clock.now(), DUE_AT_ONCE, share(), takeUp.leftAlone())) {
        await tryTo("end an expired call", () => takeUp.expire(uid));
      }
    }
    if (now - lastHoldersLookAt > HOLDERS_MS) {
      lastHoldersLookAt = now;
      await enterUnknown();
    }
    await lost.look(alive().length, takeAll);
  }

  /** A holder without a heartbeat is dead: it is given one, which will never change, so that it is found silent. */
  async function enterUnknown(): Promise<void> {
    const holders = await store.holders(share());
    const known = silence.known();
    const unknown = holders.filter((holder) => holder !== store.processId && !known.has(holder));
    if (unknown.length > 0) await store.enter(unknown);
  }

  /** Takes up every thread of a dead process, and forgets the process when none is left. */
  async function inherit(gone: Heartbeat): Promise<void> {
    const held = await store.heldBy(gone.processId);
    if (held.length === 0) return store.forget(gone);
    await takeAll(held);
  }

  async function takeAll(held: Hold[]): Promise<void> {
    for (let i = 0; i < held.length && !stopped; i += TAKES_AT_ONCE) {
      await Promise.all(held.slice(i, i + TAKES_AT_ONCE).map(take));
    }
  }

  async function take({ uid, fence }: Hold): Promise<void> {
    await tryTo("take up a thread", () =>
      takeUp.take(uid, fence).catch((error: unknown) => {
        lost.suspect(uid);
        throw error;
      }),
    );
  }

  async function tryTo(action: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, `cannot ${action}`);
    }
  }

  async function tick(): Promise<void> {
    await tryTo("say that this process lives", async () => {
      await beat();
      // Not awaited: the next beat must not wait for a long look.
      looking ??= tryTo("look after the threads", lookAround).finally(() => (looking = null));
    });
    // Jitter: instances that started together do not beat together.
    if (!stopped) callOff = timers.after(beatMs() * (0.8 + 0.4 * random()), () => void tick());
  }

  return {
    async start() {
      forgetReconnects = store.onReconnect(() => lost.suspectAll());
      await tick();
      await looking;
    },

    stop() {
      stopped = true;
      callOff();
      forgetReconnects();
    },

    share,

    isSilent: (processId) => silent.some((heartbeat) => heartbeat.processId === processId),
  };
}
