import type { AdmittedVisitor, VisitorUse, WidgetAdmission } from "../../admission/widget-admission.ts";
import type { Threads } from "../../actors/threads.ts";
import { Refusal } from "../../domain/refusal.ts";
import { looksLikeUid } from "../../domain/thread-uid.ts";
import type { HttpRequest } from "../../listener.ts";
import type { RunsRead, ThreadRecord } from "../../store.ts";
import { taken } from "../body.ts";
import type { Reading } from "../body.ts";
import type { Asked } from "../route.ts";

/**
 * How a visitor's request comes in: admission (src/admission/widget-admission.ts), and the reading of what the request
 * says. It is read before the store is asked, because the thread that it names is looked up with the token; what is wrong
 * with it (422, 413) is told after all that admission asks, and a thread that is not the visitor's (404) last.
 */
export interface Gate {
  admitVisitor<Body>(asked: Asked, entrance: Entrance<Body>): Promise<VisitorRequest<Body>>;
  /** With the visitor's thread that the request names. */
  admitToThread<Body>(asked: Asked, entrance: ThreadEntrance<Body>): Promise<ThreadRequest<Body>>;
}

export interface Entrance<Body> {
  counts: VisitorUse["counts"];
  /** Reads body or query. Its refusal waits for its turn in the order; what it rejects with does not. */
  read: (request: HttpRequest) => Promise<Reading<Body>>;
}

export interface ThreadEntrance<Body> extends Entrance<Body> {
  threadName: (body: Body) => string;
  /** With which runs the route needs the thread's record, which is read in the tick of the admission; null: not at all. */
  loads: RunsRead | null;
}

export type VisitorRequest<Body> = Pick<AdmittedVisitor, "slug" | "user" | "userNow"> & { body: Body };

export type ThreadRequest<Body> = Pick<VisitorRequest<Body>, "slug" | "user" | "body"> & {
  uid: string;
  /** The thread's record, on its way; absent where the name turned out not to be the uid. */
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
    async admitVisitor(asked, { counts, read }) {
      const visitor = admission.visitor(asked);
      const reading = await read(asked.request);
      const { slug, user, userNow } = await visitor.admit({ counts, threadName: null });
      return { slug, user, userNow, body: taken(reading) };
    },

    async admitToThread(asked, { counts, read, threadName, loads }) {
      const visitor = admission.visitor(asked);
      const reading = await read(asked.request);
      const name = reading.ok ? threadName(reading.value) : null;
      // A widget thread's id is its uid: the record leaves in the tick of the admission, so that both are one round trip.
      const early = loads && name !== null && looksLikeUid(name) ? threads.load(name, loads) : null;
      // Whoever needs the record awaits it and meets its error; a refusal needs it no more.
      early?.catch(() => {});
      const { slug, user, threadUid } = await visitor.admit({ counts, threadName: name });
      const body = taken(reading);
      if (threadUid === null) throw new Refusal("not-found");
      asked.note({ uid: threadUid });
      const loading = threadUid === name ? early : null;
      return { slug, user, body, uid: threadUid, ...(loading ? { loading } : {}) };
    },
  };
}
