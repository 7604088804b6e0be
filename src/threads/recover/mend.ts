import { Refusal } from "../../domain/refusal.ts";
import { NewerRecord, UnreadableRecord } from "../../store.ts";
import type { Salvage, UnreadablePart } from "../../store.ts";
import { threadHost } from "../../charts/charts.ts";
import type { Claims } from "../hold/claims.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import type { Claim } from "../hold/claim.ts";
import { threadStateOf } from "../thread-state.ts";

/**
 * Sets the unreadable parts of a thread aside, so that the thread can continue without them: readable messages stay, and
 * a run whose state is unreadable ends as failed. Throws NewerRecord if a newer version wrote a part. `lost`: the fence
 * that holds the thread, if its process is known to be dead.
 */
export type Mend = (uid: string, lost?: string) => Promise<void>;

export function createMend({
  claims,
  store,
  clock,
  log,
  limits,
}: Pick<ThreadDependencies, "store" | "clock" | "log" | "limits"> & { claims: Claims }): Mend {
  return async (uid, lost) => {
    const salvage = await store.salvage(uid, limits.historyBudgetChars);
    if (!salvage) return;
    const { record } = salvage;
    const parts = [...salvage.parts, ...unreadableSnapshot(salvage)];
    const newer = parts.find(({ error }) => error instanceof NewerRecord);
    if (newer) throw newer.error;
    if (parts.length === 0) return;

    const claim = claimFor(record, parts, clock.now());
    // The holder has the whole thread in memory, and will write it again with its next step.
    if (claim && record.fence && record.fence !== lost) {
      throw new Refusal("unavailable", "The thread is busy", 1);
    }
    await store.setAside(uid, parts);
    if (claim) {
      const { slug } = record;
      const isLost = parts.some(({ part }) => part === "snapshot");
      const readable = isLost ? { ...record, snapshot: null } : record;
      const thread = claims.open({ uid, slug, record: readable, traceparent: null });
      await thread.claim({ ...claim, ...(record.fence ? { takesFrom: record.fence } : {}) });
    }
    const told = parts.map(({ part, place }) => (place === "" ? part : `${part} ${place}`));
    log.error(
      { uid, parts: told.slice(0, MOST_TOLD), count: parts.length, reason: parts[0]?.error.message },
      "set aside what could not be read of a thread: it goes on without it",
    );
  };
}

/** The log names at most so many parts of a damaged thread. */
const MOST_TOLD = 20;

function unreadableSnapshot({ record: { uid, snapshot } }: Salvage): UnreadablePart[] {
  if (snapshot === null) return [];
  try {
    threadHost.thaw(snapshot, uid);
    return [];
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error;
    return [{ part: "snapshot", place: "", stored: snapshot, error }];
  }
}

/** The claim that writes the thread's state again; null if the state was readable. */
function claimFor(
  { snapshot }: Salvage["record"],
  parts: readonly UnreadablePart[],
  atMs: number,
): Claim | null {
  const has = (asked: UnreadablePart["part"]) => parts.some(({ part }) => part === asked);
  if (has("header") || has("snapshot") || has("run")) return { event: null, endsUnreadable: true };
  if (!has("state") || snapshot === null) return null;
  const runs = threadStateOf(threadHost.thaw(snapshot).value) === "running";
  return { event: runs ? { type: "run.taken", atMs } : null };
}
