import { keyCheck, mustHoldKey } from "../admission/keys.ts";
import type { Secret } from "../secret.ts";
import { textAnswer } from "./route.ts";
import type { Route } from "./route.ts";

/** What Prometheus reads. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

/** GET /metrics, with the transport key. */
export function metricsRoute(metrics: Exposition, transportKey: Secret): Route {
  const isTransportKey = keyCheck(transportKey);
  return {
    method: "GET",
    path: "/metrics",
    api: "server",
    documentation: "hidden",
    async handle({ request }) {
      mustHoldKey(request, isTransportKey);
      return textAnswer(200, await metrics.text(), {
        "content-type": metrics.contentType,
        "cache-control": "no-store",
      });
    },
  };
}
