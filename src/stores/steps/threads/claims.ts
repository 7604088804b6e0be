import { openedHash, sealedHash } from "../../content-keys/sealed-records.ts";
import type { Open, Seal } from "../../content-keys/sealed-records.ts";
import type { MessageClaim } from "../../../domain/threads/message-claim.ts";
import type { UserMessage } from "../../../domain/threads/message.ts";
import type { SaidBefore } from "../../../store/threads.ts";
import type { Check, Write } from "../../engine.ts";
import { tables } from "../../tables.ts";

/** Nobody has claimed this client's id of a message. */
export function unclaimed(uid: string, { clientMessageId }: MessageClaim): Check {
  return { check: "field", key: tables.claims.key(uid), field: clientMessageId, is: [null] };
}

export function claimWrite(uid: string, claim: MessageClaim, seal: Seal | null): Write {
  const { clientMessageId, runId, textHash } = claim;
  const hash = seal ? sealedHash(textHash, clientMessageId, seal) : textHash;
  return { write: "set", key: tables.claims.key(uid), fields: [[clientMessageId, `${runId}:${hash}`]] };
}

/** As it is stored: the hash may be sealed. */
export function claimFrom(clientMessageId: string, text: string): MessageClaim {
  const end = text.lastIndexOf(":");
  return { clientMessageId, runId: text.slice(0, end), textHash: text.slice(end + 1) };
}

export function openedClaim(clientMessageId: string, text: string, open: Open): MessageClaim {
  const claim = claimFrom(clientMessageId, text);
  return { ...claim, textHash: openedHash(claim.textHash, clientMessageId, open) };
}

/** `stored`: who has claimed the id of `claim`. */
export function saidBefore(
  { clientMessageId, textHash }: MessageClaim,
  stored: string,
  open: Open,
): SaidBefore {
  const known = openedClaim(clientMessageId, stored, open);
  return { type: "said-before", runId: known.runId, isSameText: known.textHash === textHash };
}

/** A message that was stored by the same call: only its answer was lost. */
export function itself({ runId }: UserMessage): SaidBefore {
  return { type: "said-before", runId, isSameText: true };
}
