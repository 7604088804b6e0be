import type { Telling } from "../domain/channels/webhook.ts";
import type { Desk, Note } from "../domain/threads/desk.ts";
import type { ToldRef } from "./outbox.ts";

export type DeskKept = { type: "kept"; unqueued: ToldRef[] } | { type: "changed" } | { type: "not-found" };

export interface KeptDesk {
  uid: string;
  slug: string;
  desk: Desk;
  note?: Note;
  /** Absent: none. */
  tells?: readonly Telling[];
  atMs: number;
}

/** What is kept of a thread beside its conversation, in its slot. It affects no run, and the thread's revision does not change. */
export interface DeskStore {
  /** NO_DESK if nothing was ever kept, or the thread was deleted. */
  desk(uid: string): Promise<Desk>;
  /**
   * Replaces what is kept: `desk.rev` is one more than that of what was read. With a note, which is numbered `desk.notes`, and
   * with the webhook events of the change. `changed`: it was replaced meanwhile, or something else was told: read it again.
   * `not-found`: the channel has no such thread. `unqueued`: as in CommitResult.
   */
  keepDesk(kept: KeptDesk): Promise<DeskKept>;
  /** Oldest first. */
  notes(uid: string): Promise<Note[]>;
}
