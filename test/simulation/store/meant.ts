import type { UserMessage } from "../../../src/domain/message.ts";
import type { ThreadCommit } from "../../../src/store.ts";
import type { KeptPart } from "../happening.ts";

/** What the service meant to store: the checker holds its invariants against that, whatever is stored of it. */
export interface Meant {
  commit(stored: ThreadCommit): ThreadCommit;
  message(stored: UserMessage): UserMessage;
  part(stored: KeptPart): KeptPart;
}

/** A store that takes texts as they are. */
export const AS_STORED: Meant = {
  commit: (stored) => stored,
  message: (stored) => stored,
  part: (stored) => stored,
};
