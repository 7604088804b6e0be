import { TRANSPORT_KEY } from "../admission/key-door.ts";
import type { KeyDoor } from "../admission/key-door.ts";
import { keyCheck } from "../admission/keys.ts";
import type { Secret } from "../secret.ts";
import { textAnswer } from "./route.ts";
import type { Route } from "./route.ts";

/** The metrics as text for Prometheus. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

/** GET /metrics, with the transport key. */
export function metricsRoute(
  metrics: Exposition,
  { transportKeys, keyDoor }: { transportKeys: readonly Secret[]; keyDoor: KeyDoor },
): Route {
  const isTransportKey = keyCheck(...transportKeys);
  return {
    method: "GET",
    path: "/metrics",
    api: "server",
    documentation: "hidden",
    async handle({ request }) {
      keyDoor.mustHold(request, isTransportKey, TRANSPORT_KEY);
      return textAnswer(200, await metrics.text(), {
        "content-type": metrics.contentType,
        "cache-control": "no-store",
      });
    },
  };
}
