import type { Listen, Listener } from "../listener.ts";
import { listenNode } from "./node.ts";
import { listenUws } from "./uws.ts";
import { whyNoNativeBuild } from "./uws/native-build.ts";

export interface ListenerChoice {
  listen: Listen;
  kind: Listener["kind"];
  /** One sentence for the log if there is no native build: how to get one. */
  note: string | null;
}

/** The implementation to listen with: the configured one, or uWebSockets.js if its native build loads (contract, LISTENER). */
export async function chooseListen(
  wanted: Listener["kind"] | null,
  whyNot = whyNoNativeBuild,
): Promise<ListenerChoice> {
  if (wanted === "node") return { listen: listenNode, kind: "node", note: null };
  const missing = whyNot();
  if (missing === null) return { listen: listenUws, kind: "uws", note: null };
  if (wanted === "uws") throw new Error(`Cannot listen with uWebSockets.js: ${missing}`);
  return {
    listen: listenNode,
    kind: "node",
    note: `${missing}; node:http listens, and for native speed install the official release under the same name: npm install uWebSockets.js@uNetworking/uWebSockets.js`,
  };
}
