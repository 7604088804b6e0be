import type { Catalog, RunRecord } from "../../domain/threads/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import { areInParts } from "../../domain/threads/kept-text.ts";
import type { ThreadRecord } from "../../store.ts";
import type { Attach } from "./attach.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { refuseDeleted } from "../delete/deleted.ts";
import type { Expire } from "./expire.ts";
import { createReply } from "../hold/reply.ts";
import type { Reply } from "../hold/reply.ts";
import { positionAfter } from "../hold/run-log.ts";

/** The result of a page tool, as the browser posts it. */
export interface PageAnswer {
  uid: string;
  slug: string;
  callId: string;
  tool: string;
  /** The result's text, cut to 4,000 characters. */
  text: string;
  isError: boolean;
  /** The page that the visitor is on now; null: unchanged. */
  page: string | null;
  traceparent: string | null;
  /** The page's tools, if they came with the result; null: the thread's stay. */
  catalog?: NewCatalog | null;
}

/** Replaces the thread's catalog, if it differs and the result is the pending call's. */
export interface NewCatalog {
  tools: Catalog;
  /** Called before the catalog is replaced; may throw a Refusal. */
  mayReplace: () => void;
}

/**
 * Stores the result of the pending call and continues its run, in a new stream; a repeat of the last stored result
 * re-attaches. Resolves when it is stored. Refusal("conflict") if it answers no pending call.
 */
export function createAnswer({
  claims,
  attach,
  expire,
  setCatalog,
  clock,
}: Pick<ThreadDependencies, "clock"> & {
  claims: Claims;
  attach: Attach;
  expire: Expire;
  setCatalog: (uid: string, slug: string, catalog: Catalog) => Promise<void>;
}) {
  return (answer: PageAnswer, loading?: Promise<ThreadRecord | null>): Promise<Reply> => {
    const { uid, slug, callId, tool, text, isError, page, traceparent } = answer;

    return claims.onFresh(uid, loading, async (record) => {
      const run = record?.run;
      if (!record || !run) throw new Refusal("conflict", "No call is pending");
      if (run.answered?.callId === callId && run.answered.tool === tool) {
        return attach(record, positionAfter(run.lines.slice(0, run.streamFrom)));
      }
      // This reading may leave text in parts, which is enough for a repeat; to continue the run, all text is needed.
      if (areInParts(run.lines) || record.tail.some(({ kept }) => kept)) return "again";
      if (record.state !== "awaiting") throw new Refusal("conflict", "No such call is pending");
      // Held while awaiting: a queued message is about to supersede the call.
      if (record.fence) throw new Refusal("conflict", "The call was superseded");

      if (await expire(record)) throw new Refusal("conflict", "The call has expired");

      const catalog = isPending(run, answer) ? newCatalog(record, answer.catalog ?? null) : null;
      if (catalog) {
        catalog.mayReplace();
        await setCatalog(uid, slug, catalog.tools);
      }
      const withTools = catalog ? { ...record, catalog: catalog.tools } : record;
      const thread = claims.open({ uid, slug, record: withTools, traceparent });
      const atMs = clock.now();
      const result = await thread.claim({
        event: { type: "page.answered", callId, tool, text, isError, atMs },
        page,
      });
      if (result.type === "unchanged") throw new Refusal("conflict", "No such call is pending");
      if (result.type === "deleted") throw refuseDeleted();
      if (result.type !== "committed") return "again";
      const reply = createReply(run.runId);
      thread.attach(reply, positionAfter(run.lines));
      return reply;
    });
  };
}

/** Looked at before the page's tools are replaced; whether the result is taken, the chart decides. */
function isPending({ terminal }: RunRecord, { callId, tool }: PageAnswer): boolean {
  return terminal?.type === "tool_call" && terminal.callId === callId && terminal.tool === tool;
}

/** null: the thread has these tools already. */
function newCatalog(record: ThreadRecord, catalog: NewCatalog | null): NewCatalog | null {
  if (catalog === null || JSON.stringify(record.catalog) === JSON.stringify(catalog.tools)) return null;
  return catalog;
}
