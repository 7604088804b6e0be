import { delay } from "./delay.ts";

/** What one tab stored is visible to tabs in other processes a moment later, on a busy machine much later. */
const MAX_STORAGE_LAG_MS = 5_000;

/** A page that is left frees its locks when it is torn down, which takes a busy machine a while. */
const TEARDOWN_MS = 5_000;

/** Runs the work in one tab of the origin at a time. `isDone`: another tab has stored what the work would. */
export async function withTabLock<Value>(
  name: string,
  isDone: () => boolean,
  work: () => Promise<Value>,
): Promise<Awaited<Value>> {
  let isHeld = false;
  try {
    const locks = webLocks();
    const { held = [], pending = [] } = await locks.query();
    const isContended = [...held, ...pending].some((lock) => lock.name === name);
    return await locks.request(name, async () => {
      isHeld = true;
      // This tab waited for another one, and must see what that one stored: nothing, where it failed.
      for (let left = MAX_STORAGE_LAG_MS; isContended && left > 0 && !isDone(); left -= 50) await delay(50);
      return await work();
    });
  } catch (error) {
    if (isHeld) throw error;
    return await work();
  }
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
