import type { ThreadState } from "../service/views.ts";

/** Groups of the inbox, the most urgent first. A state is in one of them. */
export const GROUPS: readonly { name: string; states: readonly ThreadState[]; hint: string }[] = [
  { name: "Waiting for a person", states: ["waiting_for_person"], hint: "Somebody should take over." },
  { name: "With a person", states: ["with_person"], hint: "An operator answers." },
  { name: "Running now", states: ["running"], hint: "The assistant is answering." },
  { name: "Waiting for the visitor's page", states: ["awaiting"], hint: "A page tool was called." },
  { name: "Recent", states: ["idle"], hint: "Idle, newest first." },
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
