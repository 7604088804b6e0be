import { setup } from "xstate";
import type { TerminalLine } from "./line.ts";

/**
 * One open stream: what a client reads between the status line and the end of the body.
 *
 * Progress leaves an open stream as it is, and so is no event here: while the stream is open its lines pass. The first
 * terminal line ends it, and whatever comes after the end is dropped: so a stream has exactly one terminal line (S1, S2).
 */
export type StreamEvent = { type: "terminal.said"; line: TerminalLine };

export const streamMachine = setup({
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
