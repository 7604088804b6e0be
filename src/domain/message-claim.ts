import { hash } from "node:crypto";
import type { UserMessage } from "./message.ts";

/**
 * A message that its caller gave an id of its own is said once: the id is claimed in the very step that stores the
 * message, and whoever brings the id again gets the run that answers it (contract, Saying a thing once).
 */
export interface MessageClaim {
  clientMessageId: string;
  /** The run that answers the message. */
  runId: string;
  /** Tells a repeat from another text under the same id. */
  textHash: string;
}

/** null: the message came without an id. */
export function claimOf({ clientMessageId, runId, text }: UserMessage): MessageClaim | null {
  if (clientMessageId === undefined) return null;
  return { clientMessageId, runId, textHash: hash("sha256", text, "base64url") };
}
