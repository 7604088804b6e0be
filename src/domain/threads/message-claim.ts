import { hash } from "node:crypto";
import type { MessageClaim, UserMessage } from "./message.ts";

export type { MessageClaim } from "./message.ts";

/** null: the message came without an id. */
export function claimOf({ clientMessageId, runId, text }: UserMessage): MessageClaim | null {
  if (clientMessageId === undefined) return null;
  return { clientMessageId, runId, textHash: hashOf(text) };
}

export function hashOf(text: string): string {
  return hash("sha256", text, "base64url");
}
