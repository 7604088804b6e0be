import type { AuditEntry } from "../domain/people/audit.ts";
import type { OperatorStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

type Noted = Omit<AuditEntry, "atMs" | "operator">;

/**
 * Writes one audit entry for an action that may be tried again, even if the store's answer came late the first time.
 * Only this process remembers that: another process that continues the work writes the entry again.
 */
export type NoteOnce = (entry: Noted) => Promise<void>;

/** Entries that are remembered: more than are worked on between two looks. */
const MOST_KNOWN = 1_000;
const PAGE = 500;

export function createNoteOnce(
  acting: Acting<Pick<OperatorStore, "audit">>,
  onNoted: (entry: Noted) => void,
): NoteOnce {
  /** By entry: since when it may be there; null: it is. */
  const known = new Map<string, number | null>();

  async function isThere({ action, target }: Noted, sinceMs: number): Promise<boolean> {
    for (let after: string | null = null; ;) {
      const page = await acting.store.audit({ limit: PAGE, after, sinceMs });
      if (page.items.some(({ entry }) => entry.action === action && entry.target === target)) return true;
      if (page.next === null) return false;
      after = page.next;
    }
  }

  function remember(key: string, sinceMs: number | null): void {
    known.set(key, sinceMs);
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KNOWN) break;
      known.delete(oldest);
    }
  }

  return async (entry) => {
    const key = `${entry.action} ${entry.target}`;
    const sinceMs = known.get(key);
    if (sinceMs === null) return;
    if (sinceMs === undefined || !(await isThere(entry, sinceMs))) {
      remember(key, sinceMs ?? acting.clock.now());
      await note(acting, entry);
    }
    remember(key, null);
    onNoted(entry);
  };
}
