import type { Message } from "../../domain/message.ts";
import type { ThreadLook, ThreadState } from "../../store.ts";

/** A line of a thread's feed. */
export type FeedLine =
  | { type: "message"; message: Message }
  | ({ type: "state" } & FeedState)
  /** What its reader knows is no place to go on from: it reads the history. */
  | { type: "reset" }
  | { type: "ping" };

/** What a feed says of its thread; a run that goes on or waits is named. */
export type FeedState =
  | { state: Extract<ThreadState, "idle"> }
  | { state: Extract<ThreadState, "running" | "awaiting">; runId: string };

/** What a feed has told: so many items of the history, and this state. */
export interface Told {
  position: number;
  state: FeedState;
}

/** More than so many items are not told again: `reset`. */
export const MOST_MISSED = 100;

/** Items by which a reader is behind, and what it knows at most. */
type Seen = Pick<ThreadLook, "state" | "runId" | "messageCount">;

export function stateOf({ state, runId }: Pick<Seen, "state" | "runId">): FeedState {
  return state === "idle" || runId === null ? { state: "idle" } : { state, runId };
}

export function isSameState(one: FeedState, other: FeedState): boolean {
  return one.state === other.state && runOf(one) === runOf(other);
}

function runOf(state: FeedState): string | null {
  return state.state === "idle" ? null : state.runId;
}

/**
 * How a feed begins, for a reader that knows the item `after`; null: only what is new, "": nothing yet.
 *
 * The state comes first. But a run whose message the reader does not know yet is told behind that message: until then
 * the thread is idle for it.
 */
export function beginningOf(after: string | null, seen: Seen): { told: Told; lines: FeedLine[] } {
  const known = placeOf(after, seen.messageCount);
  const position = known ?? seen.messageCount;
  const state: FeedState = position < seen.messageCount ? { state: "idle" } : stateOf(seen);
  const first: FeedLine = { type: "state", ...state };
  return { told: { position, state }, lines: known === null ? [first, { type: "reset" }] : [first] };
}

/** How many items the reader knows; null: no place to go on from. Ids count up from 1 (store/threads.ts). */
function placeOf(after: string | null, messageCount: number): number | null {
  if (after === null) return messageCount;
  if (after === "") return 0;
  const place = /^[1-9][0-9]{0,14}$/.test(after) ? Number(after) : NaN;
  return place <= messageCount && messageCount - place <= MOST_MISSED ? place : null;
}

/**
 * What a look at the thread adds to what was told. A user's item is followed by its run, also where that is over by now,
 * but not among items that were there when the feed began (`liveFrom`): those runs are nobody's to follow.
 */
export function newsOf(
  told: Told,
  look: ThreadLook,
  liveFrom: number,
): { told: Told; lines: readonly FeedLine[] } {
  const lines: FeedLine[] = [];
  let { state } = told;
  const tell = (next: FeedState) => {
    if (isSameState(state, next)) return;
    state = next;
    lines.push({ type: "state", ...next });
  };
  for (const message of look.messages) {
    lines.push({ type: "message", message });
    if (message.role === "user" && Number(message.id) > liveFrom) {
      tell({ state: "running", runId: message.runId });
    }
  }
  if (look.to >= look.messageCount) tell(stateOf(look));
  return { told: { position: look.to, state }, lines };
}
