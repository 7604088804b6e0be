import { scryptSync } from "node:crypto";
import { Secret } from "../secret.ts";

/**
 * The inspector's own key: derived from the transport key, so that a link opens the inspector of every instance and
 * lives through restarts, and is of no use on the API. scrypt: who holds a link cannot try transport keys against it.
 */
export function inspectorKey(transportKey: Secret): Secret {
  return new Secret(
    `ik_${scryptSync(transportKey.reveal(), "chat-agent inspector", 32).toString("base64url")}`,
  );
}
