import { delay } from "./delay.ts";

/** What one tab stored is visible to tabs in other processes a moment later, on a busy machine much later. */
const MAX_STORAGE_LAG_MS = 5_000;

/** A page that is left frees its locks when it is torn down, which takes a busy machine a while. */
const TEARDOWN_MS = 5_000;

/** The locks by which this tab tells others what it stored: it sees that itself at once. */
const own = new Set<string>();

/**
 * Runs the work in one tab of the origin at a time, and each sees what the one before stored. `stored`: what this tab sees
 * of what the work stores.
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

/** A lock with this name is held from now on, for as long as another tab may not see what was stored. */
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

/** Runs the work with the lock held; resolves to false, without running it, where another tab keeps the lock. */
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
 * Throws where there are none: on insecure origins they are missing, in a frame of another site without storage each use
 * of them fails. Tabs cannot know of each other there, and each works for itself.
 */
function webLocks(): LockManager {
  const { locks }: { locks?: LockManager } = navigator;
  if (locks === undefined) throw new Error("No locks");
  return locks;
}
