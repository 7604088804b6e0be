import { nobody } from "../actors/dependencies.ts";
import { hasRun } from "../actors/thread-state.ts";
import { threadLimitsOf } from "../actors/thread-limits.ts";
import { createThreads } from "../actors/threads.ts";
import type { Agent } from "../agent.ts";
import { pause, systemClock, systemTimers } from "../clock.ts";
import type { Config } from "../config.ts";
import { newId } from "../domain/ids.ts";
import type { PlainLog } from "../log.ts";
import type { Store } from "../store.ts";

/** It begins no turn: what is waiting behind a stopped run is stopped, too. */
const nobodyThinks: Agent = {
  think: () => new Promise(() => {}),
  useTool: () => new Promise(() => {}),
  close: async () => {},
};

/** For one thread, however many messages come meanwhile. */
const LONGEST_MS = 30_000;
const LOOK_MS = 20;

const quiet: PlainLog = { info() {}, warn() {}, error() {} };

/**
 * Stops the runs and pending calls of these threads, and the messages that wait behind them, wherever they are. Returns
 * how many threads had one.
 */
export async function stopRuns(store: Store, config: Config, uids: readonly string[]): Promise<number> {
  const channels = await store.channels(() => {});
  const threads = createThreads({
    store,
    webhooks: (slug) => channels.find((channel) => channel.slug === slug)?.webhooks ?? [],
    agent: nobodyThinks,
    clock: systemClock,
    timers: systemTimers,
    newId,
    log: quiet,
    observer: nobody,
    limits: threadLimitsOf(config),
  });
  let stopped = 0;
  for (const uid of uids) {
    const endsAt = systemClock.elapsed() + LONGEST_MS;
    let hadRun = false;
    // The one that is active, and each that waited when it ended: between two of them the thread is idle, and held.
    while (systemClock.elapsed() < endsAt) {
      const record = await threads.load(uid, "active");
      if (record === null || (!hasRun(record.state) && record.fence === null)) break;
      hadRun = true;
      if (!hasRun(record.state)) await pause(systemTimers, LOOK_MS);
      else await threads.cancel(uid);
    }
    if (hadRun) stopped++;
  }
  return stopped;
}

/** The threads of a channel that have a run or a pending call. */
export async function activeThreads(store: Store, slug: string): Promise<string[]> {
  const held = await store.heldBy(null);
  const due = await store.due(Number.MAX_SAFE_INTEGER, MOST_DUE);
  const uids = new Set([...held.map(({ uid }) => uid), ...due]);
  const active: string[] = [];
  for (const uid of uids) if ((await store.load(uid, 0, "active"))?.slug === slug) active.push(uid);
  return active;
}

const MOST_DUE = 1_000_000;
