import type { Message } from "../domain/message.ts";
import type { Store } from "../store.ts";
import { commitThread, joinQueue } from "./embedded-commit.ts";
import type { EmbeddedDb } from "./embedded-db.ts";
import { newHeader } from "./embedded-thread-records.ts";
import type { ThreadRecords } from "./embedded-thread-records.ts";

type Threads = Pick<Store, "load" | "commit" | "wait" | "setCatalog" | "history" | "runs">;

/** A message's id is its position, in plain decimal digits; NaN for any other text. */
function positionOf(id: string): number {
  const position = Number(id);
  return String(position) === id ? position : Number.NaN;
}

export function embeddedThreads(db: EmbeddedDb, records: ThreadRecords): Threads {
  /** The newest messages whose contents fit the budget, at least one; oldest first. */
  function tailOf(uid: string, messageCount: number, budgetChars: number): Message[] {
    const tail: Message[] = [];
    let left = budgetChars;
    for (const message of records.messages(uid, messageCount)) {
      left -= message.content.length;
      if (left < 0 && tail.length > 0) break;
      tail.push(message);
    }
    return tail.reverse();
  }

  return {
    load: (uid, budgetChars) =>
      db.read(`load thread ${uid}`, () => {
        const header = records.header(uid);
        if (header === undefined) return null;
        const { slug, rev, fence, state, snapshot, messageCount, waiting } = header;
        return {
          uid,
          slug,
          rev,
          fence,
          state,
          snapshot,
          catalog: records.catalog(uid),
          run: records.run(uid),
          tail: tailOf(uid, messageCount, budgetChars),
          messageCount,
          waitingCount: waiting.length,
        };
      }),

    commit: (commit) => db.change(`save thread ${commit.uid}`, () => commitThread(records, commit)),

    wait: (uid, message, max) =>
      db.change(`queue a message in thread ${uid}`, () => {
        const header = records.header(uid);
        if (header === undefined || header.fence === null) return { type: "free" as const };
        const joined = joinQueue(records, { uid, header, message, max });
        return joined === "full" ? { type: "full" as const } : { type: joined, fence: header.fence };
      }),

    setCatalog: (uid, slug, catalog) =>
      db.change(`save the catalog of thread ${uid}`, () => {
        if (records.header(uid) === undefined) records.putHeader(uid, newHeader(slug));
        records.putCatalog(uid, catalog);
      }),

    history: (uid, { limit, before }) =>
      db.read(`read the history of thread ${uid}`, () => {
        const count = records.header(uid)?.messageCount ?? 0;
        const end = before === null ? count + 1 : positionOf(before);
        if (!(end >= 1 && end <= count + (before === null ? 1 : 0))) return [];
        const page: Message[] = [];
        for (const message of records.messages(uid, end - 1)) {
          if (page.length === limit) break;
          page.push(message);
        }
        return page.reverse();
      }),

    runs: (uid, limit) => db.read(`list the runs of thread ${uid}`, () => records.runs(uid, limit).reverse()),
  };
}
