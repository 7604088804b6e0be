import { answererSince } from "../answerer-since.ts";
import { UnreadableRecord } from "../../store.ts";
import type { ListedThread, ThreadEntry, UserStore } from "../../store/users.ts";
import { FEW_THREADS, pageOfAll } from "../thread-order.ts";
import type { EmbeddedDb } from "./db.ts";
import type { ThreadRecords } from "./thread-records.ts";
import type { UserRecords } from "./user-records.ts";

/**
 * A user's threads by activity. If they are few, the threads themselves are read. If not, they are sorted by a number
 * beside each, the time of its last activity: commits write it, and for threads of an earlier version this list does.
 */
export function embeddedThreadList(
  db: EmbeddedDb,
  { users, threads }: { users: UserRecords; threads: ThreadRecords },
): Pick<UserStore, "listThreads"> {
  const glance = (entry: ThreadEntry) => glanceAt(threads, entry);

  /** By the stored times; the states are placeholders. */
  function inOrder(slug: string, entries: readonly ThreadEntry[]): ListedThread[] {
    return entries.map((entry) => {
      const updatedAtMs = threads.orders.activity(slug, entry.uid) ?? entry.createdAtMs;
      return { ...entry, updatedAtMs: Math.max(updatedAtMs, entry.createdAtMs), state: "idle" };
    });
  }

  async function complete(slug: string, unknown: readonly ThreadEntry[]): Promise<void> {
    if (unknown.length === 0) return;
    await db.change("write down when threads were active", () => {
      for (const entry of unknown) {
        if (threads.orders.activity(slug, entry.uid) === undefined) {
          threads.orders.putActivity(slug, entry.uid, glance(entry).updatedAtMs);
        }
      }
    });
  }

  return {
    async listThreads(list) {
      const { slug, userId } = list;
      const entries = await db.read("list threads", () => users.threads(slug, userId));
      if (entries.length <= FEW_THREADS) {
        return db.read("list threads", () => pageOfAll(entries.map(glance), list));
      }
      const isUnknown = ({ uid }: ThreadEntry) => threads.orders.activity(slug, uid) === undefined;
      const unknown = await db.read("list threads", () => entries.filter(isUnknown));
      await complete(slug, unknown);
      return db.read("list threads", () => {
        const { items, next } = pageOfAll(inOrder(slug, entries), list);
        return { items: items.map(glance), next };
      });
    },
  };
}

/**
 * Adds what is read from the thread itself. An unreadable thread is listed too, as if nothing had happened since its
 * creation.
 */
export function glanceAt(threads: ThreadRecords, entry: ThreadEntry): ListedThread {
  const made = { ...entry, updatedAtMs: entry.createdAtMs, state: "idle" as const };
  try {
    const header = threads.header(entry.uid);
    if (!header) return made;
    const [last] = threads.messages(entry.uid, header.messageCount);
    const { state, snapshot } = header;
    const changedAtMs = answererSince(snapshot);
    const updatedAtMs = Math.max(entry.createdAtMs, last?.createdAtMs ?? 0, changedAtMs);
    return { ...made, updatedAtMs, state, ...(snapshot !== null && changedAtMs > 0 ? { snapshot } : {}) };
  } catch (error) {
    if (error instanceof UnreadableRecord) return made;
    throw error;
  }
}
