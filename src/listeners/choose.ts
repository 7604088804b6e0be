import type { Listen, Listener } from "../listener.ts";
import { listenNode } from "./node.ts";
import { listenUws } from "./uws.ts";
import { mayBeReplaced, whyNoNativeBuild } from "./uws/native-build.ts";

export interface ListenerChoice {
  listen: Listen;
  kind: Listener["kind"];
  /** One line for the log if there is no native build: why, and how to get one. */
  note: string | null;
}

const OFFICIAL =
  ", and for native speed install the official release under the same name: npm install uWebSockets.js@uNetworking/uWebSockets.js";

/** On other systems, the last process to listen gets every connection. */
const NOT_SHARED = "several processes share a port with uWebSockets.js on Linux alone";

/** The implementation to listen with: the configured one, or uWebSockets.js if its native build loads (contract, LISTENER). */
export async function chooseListen(
  wanted: Listener["kind"] | null,
  isShared = false,
  whyNot = whyNoNativeBuild,
): Promise<ListenerChoice> {
  if (wanted === "node") return { listen: listenNode, kind: "node", note: null };
  const cannotShare = isShared && process.platform !== "linux";
  const missing = cannotShare ? NOT_SHARED : whyNot();
  if (missing === null) return { listen: listenUws, kind: "uws", note: null };
  if (wanted === "uws") throw new Error(`Cannot listen with uWebSockets.js: ${missing}`);
  if (cannotShare) return { listen: listenNode, kind: "node", note: `${missing}; node:http listens` };
  const cure = mayBeReplaced(missing) ? OFFICIAL : "";
  return { listen: listenNode, kind: "node", note: `${missing}; node:http listens${cure}` };
}
