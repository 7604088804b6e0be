import type { StepPhase } from "../../../machines/line.ts";

/** What the view shows, as plain values: whoever changes it replaces what changed. */
export interface Shown {
  items: Item[];
  phase: Phase;
  question: Question | null;
  notice: Notice | null;
  /** Answers that ended while nobody looked. */
  unread: number;
  draft: string;
  /** There are older messages than the first item. */
  hasEarlier: boolean;
  /** What a screen reader is to say next; never the stream as it grows. */
  spoken: string;
}

/** `idle` and `error` take messages; `offline` and `blocked` do not; the rest is a run under way. */
export type Phase =
  | "idle"
  | "sending"
  | "streaming"
  | "tool"
  | "waiting-user"
  | "offline"
  | "blocked"
  | "error";

export interface Item {
  key: string;
  role: "user" | "assistant";
  text: string;
  steps: ShownStep[];
  /** More may come. */
  live: boolean;
  problem: Problem | null;
}

export interface ShownStep {
  id: string;
  phase: StepPhase;
  text: string;
}

/** Why an item is not what it should be, and what a press of "try again" does about it. */
export interface Problem {
  text: string;
  hint?: string | undefined;
  /** resend: it never arrived. again: it was answered badly. attach: the answer is somewhere, the connection is not. */
  retry: "resend" | "again" | "attach" | null;
}

export interface Notice {
  text: string;
  /** Spoken at once. */
  alert: boolean;
}

/** May this tool run? */
export interface Question {
  title: string;
  arguments: [name: string, value: string][];
  decide(answer: Decision): void;
}

export type Decision = "allow" | "always" | "decline";

export const NOTHING_SHOWN: Shown = {
  items: [],
  phase: "idle",
  question: null,
  notice: null,
  unread: 0,
  draft: "",
  hasEarlier: false,
  spoken: "",
};

/** Steps with one more: a later step of an id replaces the earlier one where it stands. */
export function withStep(steps: ShownStep[], step: ShownStep): ShownStep[] {
  return steps.some((known) => known.id === step.id)
    ? steps.map((known) => (known.id === step.id ? step : known))
    : [...steps, step];
}

export function isRunning(phase: Phase): boolean {
  return phase === "sending" || phase === "streaming" || phase === "tool" || phase === "waiting-user";
}
