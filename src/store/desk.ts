import type { Desk, Note } from "../domain/threads/desk.ts";

/** What operators keep of a thread: beside it, in its slot. It affects no run, and the thread's revision does not change. */
export interface DeskStore {
  /** NO_DESK if nothing was ever kept, or the thread was deleted. */
  desk(uid: string): Promise<Desk>;
  /**
   * Replaces what is kept: `desk.rev` is one more than that of what was read. With a note, which is numbered `desk.notes`. False:
   * it was replaced meanwhile, or the channel has no such thread.
   */
  keepDesk(kept: { uid: string; slug: string; desk: Desk; note?: Note; atMs: number }): Promise<boolean>;
  /** Oldest first. */
  notes(uid: string): Promise<Note[]>;
}
