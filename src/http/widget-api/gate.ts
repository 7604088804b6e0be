import type { AdmittedVisitor, VisitorUse, WidgetAdmission } from "../../admission/widget-admission.ts";
import type { NewCatalog } from "../../actors/answer.ts";
import type { ThreadReading, Threads } from "../../actors/threads.ts";
import type { Catalog } from "../../domain/message.ts";
import { Refusal } from "../../domain/refusal.ts";
import { looksLikeUid } from "../../domain/thread-uid.ts";
import type { HttpRequest } from "../../listener.ts";
import type { ThreadRecord } from "../../store.ts";
import { unwrap } from "../body.ts";
import type { Reading } from "../body.ts";
import type { RouteRequest } from "../route.ts";

/**
 * Admits a visitor's request (src/admission/widget-admission.ts) and reads its body or query. That is read before the
 * store is called, because the thread that it names is looked up together with the token. Its faults (422, 413) are
 * answered after those that admission finds; last comes the 404 of a thread that is not the visitor's.
 */
export interface Gate {
  admitVisitor<Body>(incoming: RouteRequest, entrance: Entrance<Body>): Promise<VisitorRequest<Body>>;
  /** Also finds the visitor's thread that the request names. */
  admitToThread<Body>(incoming: RouteRequest, entrance: ThreadEntrance<Body>): Promise<ThreadRequest<Body>>;
}

export interface Entrance<Body> {
  /** The rates that it counts in; a function if they depend on the body (null: the body could not be read). */
  counts: VisitorUse["counts"] | ((body: Body | null) => VisitorUse["counts"]);
  /**
   * Reads body or query. A refusal that it returns is answered in the order of the checks; one that it throws, at once.
   * Awaits `mayBeLong` before it reads a body that is long or of undeclared length.
   */
  read: (request: HttpRequest, mayBeLong: () => Promise<void>) => Promise<Reading<Body>>;
}

export interface ThreadEntrance<Body> extends Entrance<Body> {
  threadName: (body: Body) => string;
  /**
   * The runs that the route needs of the thread's record, loaded in the tick of the admission; null: it needs no
   * record.
   */
  loads: ThreadReading | null | ((body: Body) => ThreadReading | null);
}

/** /messages and /tools count together in the rates, and name the thread in the body (the spec, Limits). */
export const asMessage = {
  counts: ["messages-by-token", "messages-by-address"],
  threadName: ({ threadId }: { threadId: string }) => threadId,
} as const;

/** The result of a page's tool, on whatever route it comes. */
export const asToolResult = { counts: ["tool-results-by-token", "tool-results-by-address"] } as const;

/** A catalog that comes with a tool's result: if it is a new one, the request counts like one of /tools as well. */
export function countedCatalog(
  { alsoCounts }: Pick<AdmittedVisitor, "alsoCounts">,
  tools: Catalog,
): NewCatalog {
  return { tools, mayReplace: () => alsoCounts(asMessage.counts) };
}

/** Each rating is a durable write, and may call a webhook. */
export const asRating = { counts: ["ratings-by-token", "ratings-by-address"] } as const;

/** Requests that read, and write nothing: lists, history, and streams again. */
export const asRead = { counts: ["reads-by-token", "reads-by-address"] } as const;

/** Takes the thread's name from a parameter of the path. */
export function inPath({ params }: RouteRequest, parameter = "id"): () => string {
  return () => params[parameter] ?? "";
}

export type VisitorRequest<Body> = Pick<AdmittedVisitor, "slug" | "user" | "userNow" | "renamed"> & {
  body: Body;
};

export type ThreadRequest<Body> = Pick<VisitorRequest<Body>, "slug" | "user" | "body"> & {
  uid: string;
  address: string;
  endsAtMs: AdmittedVisitor["endsAtMs"];
  alsoCounts: AdmittedVisitor["alsoCounts"];
  /** The thread's record, loading; absent if it was not requested, or the name is not the thread's uid. */
  loading?: Promise<ThreadRecord | null>;
};

export function createGate({
  admission,
  threads,
}: {
  admission: Pick<WidgetAdmission, "visitor">;
  threads: Pick<Threads, "load">;
}): Gate {
  return {
    async admitVisitor(incoming, { counts, read }) {
      const visitor = admission.visitor(incoming);
      const reading = await read(incoming.request, () => visitor.mustBeKnown());
      const { slug, user, userNow, renamed } = await visitor.admit({
        counts: countsOf(counts, reading),
        threadName: null,
      });
      return { slug, user, userNow, renamed, body: unwrap(reading) };
    },

    async admitToThread(incoming, { counts, read, threadName, loads }) {
      const visitor = admission.visitor(incoming);
      const reading = await read(incoming.request, () => visitor.mustBeKnown());
      const name = reading.ok ? threadName(reading.value) : null;
      const runs = typeof loads === "function" ? (reading.ok ? loads(reading.value) : null) : loads;
      // A widget thread's id is its uid. Loaded in the same tick as the admission, so that both take one round trip.
      const early = runs && name !== null && looksLikeUid(name) ? threads.load(name, runs) : null;
      // Errors are handled where the record is awaited; after a refusal nothing awaits it.
      early?.catch(() => {});
      const { slug, user, address, threadUid, endsAtMs, alsoCounts } = await visitor.admit({
        counts: countsOf(counts, reading),
        threadName: name,
      });
      const body = unwrap(reading);
      if (threadUid === null) throw new Refusal("not-found");
      incoming.note({ uid: threadUid });
      const loading = threadUid === name ? early : null;
      const thread = { uid: threadUid, ...(loading ? { loading } : {}) };
      return { slug, user, address, endsAtMs, alsoCounts, body, ...thread };
    },
  };
}

function countsOf<Body>(counts: Entrance<Body>["counts"], reading: Reading<Body>): VisitorUse["counts"] {
  return typeof counts === "function" ? counts(reading.ok ? reading.value : null) : counts;
}
