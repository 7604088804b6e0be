import { PAGE_CHARS } from "../../../src/http/history-page.ts";
import { chosenOf } from "../../../src/domain/threads/branches.ts";
import type { Exchange } from "../clients/exchange.ts";
import type { Watch, Watcher } from "./watcher.ts";

interface Item {
  id: string;
  role: string;
  content: string;
}

/**
 * reads-follow-writes: a page of history is the thread's newest messages as they were at some moment between the
 * request and its answer, as many as were asked for and as a page holds.
 */
export function watchReads({ ledger, report, world }: Watch): Watcher {
  /** What is sealed takes a third more, and a page holds less of it. */
  const pageChars = world.plan.isEncrypted ? 0.75 * PAGE_CHARS : PAGE_CHARS;
  const counts = new Map<Exchange, { least: number; most: number }>();

  function check(exchange: Exchange): void {
    const { about, status, instance, sentAtMs } = exchange;
    const count = counts.get(exchange);
    counts.delete(exchange);
    if (about.type !== "history" || status !== 200 || !count || exchange.isCut) return;
    const { uid, limit } = about;
    const node = world.cluster.ofThread(uid);
    if (ledger.isCut(uid, sentAtMs) || node.wasAstray(instance, sentAtMs)) return;
    const { items } = JSON.parse(exchange.body) as { items: Item[] };
    for (let length = count.least; length <= count.most; length++) {
      if (isPage(items, uid, { limit, nth: length })) return;
    }
    const texts = items.map(({ id, content }) => `${id}: ${content}`);
    report("reads-follow-writes", uid, `${exchange.client} read ${JSON.stringify(texts)}`);
  }

  function isPage(
    items: readonly Item[],
    uid: string,
    { limit, nth }: { limit: number; nth: number },
  ): boolean {
    const { messages: all, histories } = ledger.truth(uid);
    const then = histories[nth];
    if (!then) return false;
    const messages = chosenOf(all.slice(0, then.length), then.hidden);
    const { length } = messages;
    // What is in other branches counts for what a page holds, too.
    const mayBeShort = then.hidden.length > 0 && items.length > 0;
    const from = length - items.length;
    const isAll = items.length === Math.min(limit, length);
    const withNext = messages
      .slice(from - 1, length)
      .reduce((chars, { content }) => chars + content.length, 0);
    return (
      from >= 0 &&
      (isAll || mayBeShort || (items.length > 0 && items.length < limit && withNext > pageChars)) &&
      messages.slice(from, length).every(({ id, role, content }, i) => {
        const item = items[i];
        return item?.id === id && item.role === role && item.content === content;
      })
    );
  }

  return {
    see(happening) {
      if (happening.type === "asked" && happening.exchange.about.type === "history") {
        const least = ledger.truth(happening.exchange.about.uid).histories.length - 1;
        counts.set(happening.exchange, { least, most: least });
      }
      if (happening.type === "answered" && happening.exchange.about.type === "history") {
        const count = counts.get(happening.exchange);
        if (count) count.most = ledger.truth(happening.exchange.about.uid).histories.length - 1;
      }
      if (happening.type === "closed") check(happening.exchange);
    },
  };
}
