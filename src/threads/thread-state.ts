import type { StateValue } from "xstate";
import type { ThreadState } from "../store.ts";

/** `running.thinking` for `{ running: "thinking" }`. */
export function nameOfState(value: StateValue): string {
  if (typeof value === "string") return value;
  return Object.entries(value)
    .map(([parent, child]) => (child === undefined ? parent : `${parent}.${nameOfState(child)}`))
    .join("|");
}

/** The chart's state as the store knows it. */
export function threadStateOf(value: StateValue): ThreadState {
  if (value === "idle" || value === "waiting_for_person" || value === "with_person") return value;
  return value === "awaitingPageTool" ? "awaiting" : "running";
}

/** True if a run is active, or waits for its page. */
export function hasRun(state: ThreadState): boolean {
  return state === "running" || state === "awaiting";
}
