import type { StateValue } from "xstate";
import type { ThreadState } from "../store.ts";

/** `running.thinking` for `{ running: "thinking" }`. */
export function nameOfState(value: StateValue): string {
  if (typeof value === "string") return value;
  return Object.entries(value)
    .map(([parent, child]) => (child === undefined ? parent : `${parent}.${nameOfState(child)}`))
    .join("|");
}

/** What the store is told of a chart's state. */
export function threadStateOf(value: StateValue): ThreadState {
  if (value === "idle" || value === "waiting_for_person" || value === "with_person") return value;
  return value === "awaitingPageTool" ? "awaiting" : "running";
}

/** A run goes on, or waits for its page. */
export function hasRun(state: ThreadState): boolean {
  return state === "running" || state === "awaiting";
}
