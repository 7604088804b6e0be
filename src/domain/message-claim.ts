import { hash } from "node:crypto";
import type { MessageClaim, UserMessage } from "./message.ts";

export type { MessageClaim } from "./message.ts";

/** null: the message came without an id. */
export function claimOf({ clientMessageId, runId, text, sealedHash }: UserMessage): MessageClaim | null {
  if (clientMessageId === undefined) return null;
  return { clientMessageId, runId, textHash: sealedHash ?? hashOf(text) };
}

export function hashOf(text: string): string {
  return hash("sha256", text, "base64url");
}
