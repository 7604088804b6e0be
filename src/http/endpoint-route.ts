import type { Threads } from "../actors/threads.ts";
import type { OperatorAdmission } from "../admission/operator-admission.ts";
import type { ServerAdmission } from "../admission/server-admission.ts";
import type { WidgetAdmission } from "../admission/widget-admission.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Store } from "../store.ts";
import { bodyReader, queryReader, unwrap } from "./body.ts";
import type { Endpoint } from "./endpoint.ts";
import { operatorCheck, operatorFinder } from "./operator-api/admit.ts";
import { API_OF, documentationOf } from "./reference/documentation.ts";
import type { Route, RouteRequest } from "./route.ts";
import { serverFinder } from "./server-api/admit.ts";
import { visitorHandle } from "./widget-api/admit.ts";

/** Who decides on the requests of each API. */
export interface Admissions {
  server: ServerAdmission;
  widget: WidgetAdmission;
  operators: OperatorAdmission;
}

/** Compiles declared endpoints: what a request of each goes through is chosen here, once. */
export function createRouteOf(
  { server, widget, operators }: Admissions,
  dependencies: {
    store: Store;
    threads: Pick<Threads, "load">;
    clock: Clock;
    config: Pick<Config, "serverMaxBodyBytes" | "limits">;
  },
): (endpoint: Endpoint) => Route {
  const { store, clock, config } = dependencies;
  const serverBytes = config.serverMaxBodyBytes;
  const widgetBytes = config.limits.maxBodyBytes;

  function handleOf(endpoint: Endpoint): Route["handle"] {
    switch (endpoint.credential) {
      case "transportKey":
        return keyed(endpoint, {
          limitBytes: serverBytes,
          admit({ request }) {
            server.transport(request);
            return { caller: null };
          },
          find: serverFinder(endpoint, server),
        });
      case "secretKey":
        return keyed(endpoint, {
          limitBytes: serverBytes,
          admit: (incoming) => ({ caller: server.backend(incoming, incoming.params["slug"] ?? "") }),
        });
      case "operatorKey": {
        const mustBeAllowed = operatorCheck(endpoint);
        return keyed(endpoint, {
          limitBytes: serverBytes,
          admit(incoming) {
            const caller = operators.admit(incoming);
            mustBeAllowed(caller, incoming.params["slug"]);
            return { caller, acting: { store, clock, operator: caller.name } };
          },
          find: operatorFinder(endpoint, dependencies),
        });
      }
      case "publishableKey":
        return keyed(endpoint, {
          limitBytes: widgetBytes,
          admit: (incoming) => ({ caller: widget.page(incoming) }),
        });
      case "visitorToken":
        return visitorHandle(endpoint, { ...dependencies, admission: widget });
      case "origin":
        return keyed(endpoint, {
          limitBytes: widgetBytes,
          admit({ request }) {
            widget.preflight(request);
            return { caller: null };
          },
        });
      case "none":
        return keyed(endpoint, { limitBytes: serverBytes, admit: () => ({ caller: null }) });
    }
  }

  return (endpoint) => ({
    method: endpoint.method,
    path: endpoint.path,
    api: API_OF[endpoint.credential],
    documentation: documentationOf(endpoint),
    handle: handleOf(endpoint),
  });
}

/** The order of the checks where the caller is known without the store: the key, the body, the query, what they name. */
function keyed(
  endpoint: Endpoint,
  {
    limitBytes,
    admit,
    find = null,
  }: {
    limitBytes: number;
    admit: (incoming: RouteRequest) => object;
    /** Finds what the request names; null: nothing. */
    find?: ((incoming: RouteRequest, body: unknown) => Promise<object>) | null;
  },
): Route["handle"] {
  const readBody = bodyReader(endpoint, limitBytes);
  const readQuery = queryReader(endpoint.query);
  return async (incoming) => {
    const admitted = admit(incoming);
    const body = unwrap(await readBody(incoming.request, async () => {}));
    const query = readQuery(incoming.request);
    const found = find && (await find(incoming, body));
    return endpoint.handle({ ...incoming, ...admitted, ...found, body, query });
  };
}
