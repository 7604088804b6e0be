import type { AdmittedVisitor, WidgetAdmission } from "../../admission/widget-admission.ts";
import type { Threads } from "../../threads/threads.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { looksLikeUid } from "../../domain/threads/thread-uid.ts";
import { attempt, bodyReader, queryReader } from "../body.ts";
import { keyed } from "../endpoint-route.ts";
import type { HandleOf } from "../endpoint-route.ts";
import { RATES } from "../endpoint.ts";
import type { Endpoint, VisitorThread } from "../endpoint.ts";
import type { Route, RouteRequest } from "../route.ts";

/** The order of the widget API's checks (README, Order of the checks). */
export function widgetHandleOf(dependencies: {
  admission: WidgetAdmission;
  threads: Pick<Threads, "load">;
  config: Pick<Config, "limits">;
}): HandleOf<"publishableKey" | "visitorToken" | "origin"> {
  const { admission, threads, config } = dependencies;
  const limitBytes = config.limits.maxBodyBytes;
  return (endpoint) => {
    switch (endpoint.credential) {
      case "visitorToken":
        return visitorHandle(endpoint, { admission, threads, limitBytes });
      case "publishableKey":
        return keyed(endpoint, {
          limitBytes,
          admit: (incoming) => admission.page(incoming),
        });
      case "origin":
        return keyed(endpoint, {
          limitBytes,
          admit({ request }) {
            admission.preflight(request);
            return null;
          },
        });
    }
  };
}

/**
 * Admits a visitor's request (src/admission/widget-admission.ts). Its body or query is read before the store is called,
 * because the thread that it names is looked up together with the token. Its faults (422, 413) are answered after those
 * that admission finds; last comes the 404 of a thread that is not the visitor's.
 */
function visitorHandle(
  endpoint: Endpoint,
  {
    admission,
    threads,
    limitBytes,
  }: {
    admission: Pick<WidgetAdmission, "visitor">;
    threads: Pick<Threads, "load">;
    limitBytes: number;
  },
): Route["handle"] {
  const { finds, rate = null, loads = null } = endpoint;
  const readBody = bodyReader(endpoint, limitBytes);
  const readQuery = queryReader(endpoint.query);
  const nameOf = finds === "threadOfBody" ? nameInBody : nameInPath;

  return async (incoming) => {
    const { request, params, traceparent, note } = incoming;
    const visitor = admission.visitor(incoming);
    const reading = await readBody(request, () => visitor.mustBeKnown());
    const queried = reading.ok ? attempt(() => readQuery(request)) : reading;
    const body = reading.ok ? reading.value : null;
    const name = finds !== undefined && queried.ok ? nameOf(incoming, body) : null;
    const runs = queried.ok && typeof loads === "function" ? loads(body) : loads;
    // A widget thread's id is its uid. Loaded in the same tick as the admission, so that both take one round trip.
    const early =
      typeof runs === "string" && name !== null && looksLikeUid(name) ? threads.load(name, runs) : null;
    // Errors are handled where the record is awaited; after a refusal nothing awaits it.
    early?.catch(() => {});
    const counted = typeof rate === "function" ? rate(body) : rate;
    const caller = await visitor.admit({
      counts: counted === null ? [] : RATES[counted],
      threadName: name,
    });
    if (!queried.ok) throw queried.refusal;
    const thread = name === null ? undefined : threadIn(caller, name, early);
    if (thread) note({ uid: thread.uid });
    return endpoint.handle({
      request,
      params,
      traceparent,
      note,
      caller,
      body,
      query: queried.value,
      thread,
    });
  };
}

/** The visitor's thread. Throws Refusal("not-found") for another one. `loading`: the record of the thread with that id. */
function threadIn(
  { threadUid: uid }: AdmittedVisitor,
  name: string,
  loading: VisitorThread["loading"] | null,
): VisitorThread {
  if (uid === null) throw new Refusal("not-found");
  return uid === name && loading ? { uid, loading } : { uid };
}

function nameInPath({ params }: RouteRequest): string {
  return params["threadId"] ?? params["id"] ?? "";
}

function nameInBody(_: RouteRequest, body: unknown): string {
  // A cast: its schema has it.
  return (body as { threadId: string }).threadId;
}
