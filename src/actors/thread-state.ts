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
  if (value === "idle") return "idle";
  return value === "awaitingPageTool" ? "awaiting" : "running";
}
