import { scryptSync } from "node:crypto";
import { Secret } from "../secret.ts";

/**
 * The inspector's own key, derived from the transport key: a link opens the inspector of every instance and survives
 * restarts, but is of no use on the API. scrypt is slow: the owner of a link cannot guess the transport key with it.
 */
export function inspectorKey(transportKey: Secret): Secret {
  return new Secret(
    `ik_${scryptSync(transportKey.reveal(), "chat-agent inspector", 32).toString("base64url")}`,
  );
}
