import type { Lock, StateAdapter } from "chat";

/**
 * What adapters remember between two requests: who a user is, albums that are still arriving. It is of this process, and
 * nothing that must last is in it: what was said and delivered is in the store.
 *
 * Of what an adapter saw before, it remembers nothing (`setIfNotExists` is always new, SEEN is never kept): an adapter notes a message as seen
 * before it is saved, and would drop its repeat where the saving failed. The id of the message is what tells repeats.
 */
export function createMemoryState(now: () => number): StateAdapter {
  const values = new Map<string, { value: unknown; endsAtMs: number }>();
  const locks = new Map<string, Lock>();
  let count = 0;

  function live(key: string): unknown {
    const kept = values.get(key);
    if (kept === undefined) return null;
    if (kept.endsAtMs > now()) return kept.value;
    values.delete(key);
    return null;
  }

  function put(key: string, value: unknown, ttlMs = DAY_MS): void {
    values.delete(key);
    values.set(key, { value, endsAtMs: now() + ttlMs });
    const [oldest] = values.keys();
    if (values.size > MOST_VALUES && oldest !== undefined) values.delete(oldest);
  }

  const nothing = () => Promise.resolve();
  return {
    connect: nothing,
    disconnect: nothing,
    // A cast: what was put under a key is what its adapter expects there.
    get: <T>(key: string) => Promise.resolve(live(key) as T | null),
    set: (key, value, ttlMs) => Promise.resolve(key.startsWith(SEEN) ? undefined : put(key, value, ttlMs)),
    setIfNotExists: () => Promise.resolve(true),
    delete: (key) => Promise.resolve(void values.delete(key)),
    getList: <T>(key: string) => Promise.resolve((live(key) ?? []) as T[]),
    appendToList(key, value, { maxLength = MOST_LISTED, ttlMs } = {}) {
      const list = live(key);
      put(key, [...(Array.isArray(list) ? list : []), value].slice(-maxLength), ttlMs);
      return Promise.resolve();
    },
    acquireLock(threadId, ttlMs) {
      const held = locks.get(threadId);
      if (held && held.expiresAt > now()) return Promise.resolve(null);
      const lock = { threadId, token: String(++count), expiresAt: now() + ttlMs };
      locks.set(threadId, lock);
      return Promise.resolve(lock);
    },
    extendLock(lock, ttlMs) {
      if (locks.get(lock.threadId)?.token !== lock.token) return Promise.resolve(false);
      locks.set(lock.threadId, { ...lock, expiresAt: now() + ttlMs });
      return Promise.resolve(true);
    },
    releaseLock({ threadId, token }) {
      if (locks.get(threadId)?.token === token) locks.delete(threadId);
      return Promise.resolve();
    },
    forceReleaseLock: (threadId) => Promise.resolve(void locks.delete(threadId)),
    // The queues and subscriptions of the SDK's own runtime, which does not run here.
    enqueue: () => Promise.resolve(0),
    dequeue: () => Promise.resolve(null),
    queueDepth: () => Promise.resolve(0),
    subscribe: nothing,
    unsubscribe: nothing,
    isSubscribed: () => Promise.resolve(false),
  };
}

/** By this Slack's adapter drops the repeat of a message, be it that the first one was not saved. */
const SEEN = "slack:event-delivered:";
const DAY_MS = 86_400_000;
const MOST_VALUES = 10_000;
const MOST_LISTED = 100;
