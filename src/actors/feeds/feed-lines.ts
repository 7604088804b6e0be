import type { Person } from "../../../machines/person.ts";
import type { Message } from "../../domain/message.ts";
import type { ThreadLook, ThreadState } from "../../store.ts";
import { threadHost } from "../charts.ts";

/** A line of a thread's feed. */
export type FeedLine =
  | { type: "message"; message: Message }
  | ({ type: "state" } & FeedState)
  /** What its reader knows is no place to go on from: it reads the history. */
  | { type: "reset" }
  /** The thread is gone; the feed ends. */
  | { type: "deleted" }
  /** A person writes; counts for six seconds. */
  | { type: "typing"; name: string }
  | { type: "ping" };

/** What a feed says of its thread; a run that goes on or waits is named. */
export type FeedState =
  | { state: Extract<ThreadState, "idle"> }
  | { state: Extract<ThreadState, "running" | "awaiting">; runId: string }
  /** Unix time in ms. */
  | { state: Extract<ThreadState, "waiting_for_person">; waitingSince: number }
  /** A person's name. */
  | { state: Extract<ThreadState, "with_person">; with: string };

/** What a feed has told: so many items of the history, and this state. */
export interface Told {
  position: number;
  state: FeedState;
}

/** More than so many items are not told again: `reset`. */
export const MOST_MISSED = 100;

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
      return { state, with: personIn(snapshot)?.name ?? "" };
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
 * How a feed begins, for a reader that knows the item `after`; null: only what is new, "": nothing yet.
 *
 * The state comes first. But a run whose message the reader does not know yet is told behind that message: until then
 * the thread is idle for it. Who waits for a person, or is with one, is told at once: that rests on no message.
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
    const isAsked = message.role === "user" && message.handledBy === undefined;
    if (isAsked && Number(message.id) > liveFrom) {
      tell({ state: "running", runId: message.runId });
    }
  }
  if (look.to >= look.messageCount) tell(stateOf(look));
  return { told: { position: look.to, state }, lines };
}
