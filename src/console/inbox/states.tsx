import type { PlacedThread, ThreadState } from "../service/views.ts";

/** A group of the inbox. */
export interface Group {
  name: string;
  hint: string;
  /** `reader`: the operator who looks. */
  has: (thread: PlacedThread, reader: string) => boolean;
}

const inState =
  (state: ThreadState) =>
  (thread: PlacedThread): boolean =>
    thread.state === state && thread.snoozedUntil === undefined;

/** The most urgent first. A conversation is in one of them. */
export const GROUPS: readonly Group[] = [
  {
    name: "Waiting for your approval",
    hint: "The assistant asks to call a tool.",
    has: ({ approval }) => approval === "operator",
  },
  {
    name: "Waiting for a person",
    hint: "Somebody should take over.",
    // Snoozed or not: a visitor waits.
    has: ({ state }) => state === "waiting_for_person",
  },
  {
    name: "Yours",
    hint: "You answer.",
    has: (thread, reader) => inState("with_person")(thread) && thread.handoff?.with === reader,
  },
  {
    name: "With a colleague",
    hint: "Another operator answers.",
    has: (thread, reader) => inState("with_person")(thread) && thread.handoff?.with !== reader,
  },
  { name: "Running now", hint: "The assistant is answering.", has: inState("running") },
  { name: "Waiting for the visitor's page", hint: "A page tool was called.", has: inState("awaiting") },
  { name: "Recent", hint: "Idle, newest first.", has: inState("idle") },
  {
    name: "Snoozed",
    hint: "Until then, or until the visitor writes.",
    has: ({ state, snoozedUntil }) => snoozedUntil !== undefined && state !== "waiting_for_person",
  },
];

const NAMES: Record<ThreadState, string> = {
  idle: "idle",
  running: "running",
  awaiting: "waits for the page",
  waiting_for_person: "waits for a person",
  with_person: "with a person",
};

export function StateFlag({ state }: { state: ThreadState }) {
  return <span class={`flag state ${state}`}>{NAMES[state]}</span>;
}

export function stateName(state: ThreadState): string {
  return NAMES[state];
}
