import { setup } from "xstate";
import type { TerminalLine } from "./line.ts";

/**
 * One open stream: what a client reads between the status line and the end of the body.
 *
 * Progress lines do not change an open stream, so they are no events here: they pass while it is open. The first
 * terminal line ends the stream, and later lines are dropped: so it has exactly one terminal line (S1, S2).
 */
export type StreamEvent = { type: "terminal.said"; line: TerminalLine };

export const streamMachine = setup({
  // Casts: this is how XState takes types; the values are never read.
  types: {
    context: {} as Record<string, never>,
    events: {} as StreamEvent,
  },
}).createMachine({
  id: "stream",
  context: {},
  initial: "open",
  states: {
    open: {
      on: {
        "terminal.said": { target: "ended" },
      },
    },
    ended: { type: "final" },
  },
});
