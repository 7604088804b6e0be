import type { Line } from "../../machines/line.ts";

/** States of the thread's chart (machines/thread.ts), as far as a browser can tell. */
export const CHART_STATES = [
  "idle",
  "running.thinking",
  "running.usingServerTool",
  "awaitingPageTool",
  "waiting_for_person",
  "with_person",
] as const;
export type ChartState = (typeof CHART_STATES)[number];

const isPersons = (state: ChartState) => state === "waiting_for_person" || state === "with_person";

/** The visitor sent a message: no run begins while a person has the thread. */
export function afterSaid(state: ChartState): ChartState {
  return isPersons(state) ? state : "running.thinking";
}

/**
 * The chart's state when it sends this line. `running.choosing` is never visible: the chart does not rest there.
 * `pageTools`: names of the tools that run in the page; a step of any other is a server-side tool's.
 */
export function afterLine(state: ChartState, line: Line, pageTools: ReadonlySet<string>): ChartState {
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- other lines change no state
  switch (line.type) {
    case "delta":
      return "running.thinking";
    case "step": {
      if (line.phase !== "running") return "running.thinking";
      // The second call of a tool is `name#2`.
      const isPageTool = pageTools.has(line.id.replace(/#\d+$/, ""));
      return isPageTool ? "awaitingPageTool" : "running.usingServerTool";
    }
    case "tool_call":
      return "awaitingPageTool";
    case "done":
      // Whether a person has taken the thread comes with the feed, before or after this line.
      if (line.handledBy === "person") return isPersons(state) ? state : "waiting_for_person";
      return "idle";
    case "error":
      return "idle";
    default:
      return state;
  }
}

/** The element's event that another one answers now. */
export function afterPerson(
  state: ChartState,
  { waitingSince, name }: Record<"waitingSince" | "name", unknown>,
): ChartState {
  if (typeof name === "string") return "with_person";
  if (typeof waitingSince === "number") return "waiting_for_person";
  return isPersons(state) ? "idle" : state;
}
