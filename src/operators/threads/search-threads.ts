import type { PlacedThread, Page, Store } from "../../store.ts";
import { listChannelThreads } from "./channel-threads.ts";
import type { ThreadFilter } from "./channel-threads.ts";
import { lineWith } from "./headline.ts";

/** A thread in which something was said. */
export interface FoundThread extends PlacedThread {
  /** The latest line that has one of the words. */
  found: string;
}

type Reading = Pick<Store, "channelThreads" | "listThreads" | "look">;

/** What one request reads: some tenths of a second on either store. */
const MOST_CHARS = 4_000_000;
const MOST_THREADS = 500;
const AT_ONCE = 20;

/**
 * A page of the threads in which one message has all these words, in any case; the latest activity first. Nothing is stored for it,
 * and a message costs nothing: the conversations are read. So a page may have fewer than `limit`, even none, and still have a
 * next one.
 */
export async function searchThreads(
  store: Reading,
  slug: string,
  { limit, after: from }: { limit: number; after: string | null },
  { words, ...filter }: ThreadFilter & { words: readonly string[] },
): Promise<Page<FoundThread>> {
  const items: FoundThread[] = [];
  let after = from;
  let chars = 0;
  for (let threads = 0; threads < MOST_THREADS && chars < MOST_CHARS; threads += AT_ONCE) {
    const page = await listChannelThreads(store, slug, { limit: AT_ONCE, after }, filter);
    const read = await Promise.all(page.items.map((thread) => searched(store, thread, words)));
    for (const [nth, thread] of page.items.entries()) {
      const { found, chars: many } = read[nth] ?? { found: null, chars: 0 };
      chars += many;
      after = thread.place;
      if (found !== null) items.push({ ...thread, found });
      if (items.length === limit) return { items, next: after };
    }
    after = page.next;
    if (after === null) break;
  }
  return { items, next: after };
}

async function searched(
  store: Pick<Store, "look">,
  { uid }: PlacedThread,
  words: readonly string[],
): Promise<{ found: string | null; chars: number }> {
  let found: string | null = null;
  let chars = 0;
  for (let from = 0; ;) {
    const { messages, to, messageCount } = await store.look(uid, from);
    for (const { content } of messages) {
      chars += content.length;
      const text = folded(content);
      if (words.every((word) => text.includes(word)))
        found = lineWith(content, (line) => hasOne(line, words));
    }
    if (to <= from || to >= messageCount) return { found, chars };
    from = to;
  }
}

/** Empty: nothing is sought. */
export function wordsOf(text: string): string[] {
  return folded(text)
    .split(/\s+/u)
    .filter((word) => word !== "");
}

const folded = (text: string) => text.normalize("NFKC").toLowerCase();

function hasOne(line: string, words: readonly string[]): boolean {
  const text = folded(line);
  return words.some((word) => text.includes(word));
}
