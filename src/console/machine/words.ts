import type { StatePath } from "../../../machines/state-path.ts";
import type { threadMachine } from "../../../machines/thread.ts";

/** A new state of the chart does not compile without its sentence. */
const SENTENCES: Readonly<Record<StatePath<typeof threadMachine>, string>> = {
  idle: "Nothing is going on: the next message begins a run.",
  "running.thinking": "A run is active: the model is asked.",
  "running.choosing": "A run is active: what comes next of the model's calls is chosen.",
  "running.usingServerTool": "A run is active: a server's tool is called, and its result is awaited.",
  "running.awaitingApproval": "A run waits: a call of a tool is to be approved.",
  awaitingPageTool: "A run waits: the visitor's page is to answer a tool call.",
  waiting_for_person: "The visitor waits for a person: no model is asked.",
  with_person: "A person has the conversation: no model is asked.",
};

/** What the machine is doing, in words. A state that a newer service has, by its name. */
export function sentenceOf(state: string): string {
  return Object.entries(SENTENCES).find(([path]) => path === state)?.[1] ?? `The machine is in ${state}.`;
}
