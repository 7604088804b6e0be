import { shownName } from "../../../machines/person.ts";
import type { Person } from "../../../machines/person.ts";
import type { Message } from "../../domain/threads/message.ts";
import type { FeedLine as ShownLine, StateFeedLine } from "../../protocol/feed.ts";
import type { ThreadLook } from "../../store.ts";
import { threadHost } from "../../charts/charts.ts";

/** A line of a thread's feed, with the message as it is stored. */
export type FeedLine = Exclude<ShownLine, { type: "message" }> | { type: "message"; message: Message };

/** A thread's state in its feed; names the run that is active or queued. */
export type FeedState = Untyped<StateFeedLine>;

type Untyped<Line> = Line extends unknown ? Omit<Line, "type"> : never;

/** What a feed has sent so far: the number of history items, and the state. */
export interface Told {
  position: number;
  state: FeedState;
}

/** A reader that has missed more items than this gets `reset`. */
const MOST_MISSED = 100;

export function stateOf({
  state,
  runId,
  snapshot,
}: Pick<ThreadLook, "state" | "runId" | "snapshot">): FeedState {
  switch (state) {
    case "idle":
      return { state };
    case "running":
    case "awaiting":
      return runId === null ? { state: "idle" } : { state, runId };
    case "waiting_for_person":
      return { state, waitingSince: personIn(snapshot)?.sinceMs ?? 0 };
    case "with_person":
      return { state, with: shownName(personIn(snapshot)) ?? "" };
  }
}

function personIn(snapshot: string | undefined): Person | null {
  return snapshot === undefined ? null : threadHost.thaw(snapshot).context.person;
}

export function isSameState(one: FeedState, other: FeedState): boolean {
  return one.state === other.state && detailOf(one) === detailOf(other);
}

function detailOf(state: FeedState): string | number | null {
  if ("runId" in state) return state.runId;
  if ("with" in state) return state.with;
  return "waitingSince" in state ? state.waitingSince : null;
}

/**
 * The beginning of a feed, for a reader that knows the item `after`; null: only new items, "": it knows none.
 *
 * The state comes first. But a run whose message the reader does not know yet comes after that message: until then the
 * reader sees the thread as idle. A thread that waits for a person, or is with one, says so at once: no message comes first.
 */
export function beginningOf(
  after: string | null,
  seen: { messageCount: number; state: FeedState },
): { told: Told; lines: FeedLine[] } {
  const known = placeOf(after, seen.messageCount);
  const position = known ?? seen.messageCount;
  const isRunAhead = position < seen.messageCount && "runId" in seen.state;
  const state: FeedState = isRunAhead ? { state: "idle" } : seen.state;
  const first: FeedLine = { type: "state", ...state };
  return { told: { position, state }, lines: known === null ? [first, { type: "reset" }] : [first] };
}

/** How many items the reader knows; null: it cannot continue from there. Ids count up from 1 (store/threads.ts). */
function placeOf(after: string | null, messageCount: number): number | null {
  if (after === null) return messageCount;
  if (after === "") return 0;
  const place = /^[1-9][0-9]{0,14}$/.test(after) ? Number(after) : NaN;
  return place <= messageCount && messageCount - place <= MOST_MISSED ? place : null;
}

/**
 * The lines that a look at the thread adds. A user's item is followed by its run, even if the run is over by now; but not
 * for items from before the feed began (`liveFrom`), whose runs nobody needs to follow.
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
    const isAsked = message.role === "user" && message.handledBy === undefined;
    if (isAsked && Number(message.id) > liveFrom) {
      tell({ state: "running", runId: message.runId });
    }
  }
  if (look.to >= look.messageCount) tell(stateOf(look));
  return { told: { position: look.to, state }, lines };
}
