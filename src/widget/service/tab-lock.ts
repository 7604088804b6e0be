import { delay } from "./delay.ts";

/** Tabs in other processes see stored values a moment later, on a busy machine much later. */
const MAX_STORAGE_LAG_MS = 5_000;

/** A page that was left frees its locks when it is torn down, which can take a while on a busy machine. */
const TEARDOWN_MS = 5_000;

/** The locks by which this tab announces what it stored. It ignores its own: it sees its own writes at once. */
const own = new Set<string>();

/**
 * Runs the work in one tab of the origin at a time; each tab sees what the previous one stored. `stored`: the value that
 * the work stores, as this tab sees it.
 */
export async function withTabLock<Value>(
  name: string,
  stored: () => string | null,
  work: () => Promise<Value>,
): Promise<Awaited<Value>> {
  let isHeld = false;
  const told = () => `${name}=${stored()}`;
  try {
    const locks = webLocks();
    return await locks.request(name, async () => {
      isHeld = true;
      const { held = [] } = await locks.query();
      const others = held
        .map((lock) => lock.name ?? "")
        .filter((one) => one.startsWith(`${name}=`) && !own.has(one));
      const isSeen = () => others.length === 0 || others.includes(told());
      for (let left = MAX_STORAGE_LAG_MS; left > 0 && !isSeen(); left -= 50) await delay(50);
      const value = await work();
      await tell(locks, told());
      return value;
    });
  } catch (error) {
    if (isHeld) throw error;
    return await work();
  }
}

/** Holds a lock with this name for as long as another tab may not see what was stored. */
function tell(locks: LockManager, name: string): Promise<void> {
  own.add(name);
  return new Promise((isTold) => {
    const hold = () => (isTold(), delay(MAX_STORAGE_LAG_MS));
    void locks
      .request(name, { mode: "shared" }, hold)
      .catch(isTold)
      .finally(() => own.delete(name));
  });
}

/** Runs the work with the lock held; resolves to false, without running it, if another tab keeps the lock. */
export async function tryWithTabLock(name: string, work: () => Promise<void>): Promise<boolean> {
  const signal = AbortSignal.timeout(TEARDOWN_MS);
  let isHeld = false;
  const hold = () => ((isHeld = true), work());
  try {
    await webLocks().request(name, { signal }, hold);
  } catch (error) {
    if (isHeld) throw error;
    if (signal.aborted) return false;
    await hold();
  }
  return true;
}

/**
 * Throws if there are no locks: insecure origins lack them, and in a frame of another site without storage each use
 * fails. Tabs cannot know of each other there, so each works alone.
 */
function webLocks(): LockManager {
  const { locks }: { locks?: LockManager } = navigator;
  if (locks === undefined) throw new Error("No locks");
  return locks;
}
