import { bodyReader, queryReader, unwrap } from "./body.ts";
import type { Credentials, Endpoint } from "./endpoint.ts";
import { API_OF, documentationOf } from "./reference/documentation.ts";
import type { Route, RouteRequest } from "./route.ts";

/** What a request of an endpoint goes through: chosen once, when the service starts (admit.ts of each API). */
export type HandleOf<Who extends Credentials> = (endpoint: Endpoint<Who>) => Route["handle"];

/** Declared endpoints as routes. */
export function routesOf<Who extends Credentials>(
  endpoints: readonly Endpoint<Who>[],
  handleOf: HandleOf<Who>,
): Route[] {
  return endpoints.map((endpoint) => ({
    method: endpoint.method,
    path: endpoint.path,
    api: API_OF[endpoint.credential],
    documentation: documentationOf(endpoint),
    handle: handleOf(endpoint),
  }));
}

/** For endpoints that anybody may ask. */
export const openToAll: HandleOf<"none"> = (endpoint) =>
  keyed(endpoint, { limitBytes: 0, admit: () => null });

/** The order of the checks where the caller is known without the store: the key, the body, the query, what they name. */
export function keyed<Caller>(
  endpoint: Endpoint,
  {
    limitBytes,
    admit,
    find = null,
  }: {
    limitBytes: number;
    /** Returns the caller, or throws a Refusal. */
    admit: (incoming: RouteRequest) => Caller;
    /** What `handle` gets besides: finds what the request names; null: nothing. */
    find?: ((incoming: RouteRequest, body: unknown, caller: Caller) => Promise<object>) | null;
  },
): Route["handle"] {
  const readBody = bodyReader(endpoint, limitBytes);
  const readQuery = queryReader(endpoint.query);
  return async (incoming) => {
    const caller = admit(incoming);
    const body = unwrap(await readBody(incoming.request, KNOWN));
    const query = readQuery(incoming.request);
    const { request, params, traceparent, note } = incoming;
    // Named one by one: a spread of objects costs a message some microseconds.
    const asked = { request, params, traceparent, note, caller, body, query };
    return endpoint.handle(find ? { ...asked, ...(await find(incoming, body, caller)) } : asked);
  };
}

/** The sender of a body is known before it is read. */
const KNOWN = async () => {};
