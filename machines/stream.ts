import { emit, setup } from "xstate";
import { isTerminal } from "./line.ts";
import type { Line } from "./line.ts";

/**
 * One open stream: what a client reads between the status line and the end of the body.
 *
 * Every line passes through this chart before it becomes bytes. Progress keeps the stream open, a terminal line
 * ends it, and whatever comes after the end is dropped: so a stream has exactly one terminal line (S1, S2).
 */
export type StreamEvent = { type: "line.said"; line: Line };

export const streamMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as StreamEvent,
    emitted: {} as Line,
  },
  guards: {
    endsTheStream: ({ event }) => isTerminal(event.line),
  },
  actions: {
    passOn: emit(({ event }) => event.line),
  },
}).createMachine({
  id: "stream",
  context: {},
  initial: "open",
  states: {
    open: {
      on: {
        "line.said": [{ guard: "endsTheStream", target: "ended", actions: "passOn" }, { actions: "passOn" }],
      },
    },
    ended: { type: "final" },
  },
});
