import type { StateValue } from "xstate";
import { isTerminal } from "../../machines/line.ts";
import type { Line } from "../../machines/line.ts";
import type { ThreadEffect, ThreadEvent } from "../../machines/thread.ts";
import type { Message, RunRecord, TurnItem, UserMessage } from "../domain/message.ts";
import { replyMessage } from "../domain/past-run.ts";
import type { Decision } from "./host.ts";
import { joinLine } from "./run-log.ts";
import { nameOfState } from "./thread-state.ts";

/**
 * What one transition of a thread asks to be saved, said and performed.
 *
 * The chart's outcome is walked in its order: emitted lines go to the run that is active at that point, `note…` and
 * `keep…` effects into the save, and the rest is performed after it. Pure: ids and time come in.
 */
export interface PlannedChange {
  /** The active run as it shall be saved, or the last one where the transition ended it. */
  run: RunRecord;
  /** A run that this transition ended before it began `run`. */
  endedRun: RunRecord | null;
  /** New items of the history. */
  messages: Message[];
  /** True where `run` began in this transition. */
  begins: boolean;
  /** Lines for the readers of `run`. */
  lines: Line[];
  /** Effects to perform once the change is saved. */
  effects: PerformedEffect[];
}

/** What is performed after the save; the other effects are part of it. */
export type PerformedEffect = Extract<ThreadEffect, { type: "startTurn" | "callTool" }>;

/** What comes with an event besides the event. */
export interface Enclosed {
  /** What the model said in the turn that the event ends. */
  item: TurnItem | null;
  /** The message that `user.said` speaks of. */
  message: UserMessage | null;
  /** With `page.answered`: where the visitor is now; null: as before. */
  page: string | null;
}

export interface TransitionToPlan extends Enclosed {
  run: RunRecord | null;
  event: ThreadEvent;
  decision: Pick<Decision<{ value: StateValue }, Line, ThreadEffect>, "next" | "outcome">;
  messageCount: number;
  lastMessageAtMs: number;
  nowMs: number;
}

/** Transitions kept with a run, for the inspector: the first ones, then the rest is left out. */
const MAX_PATH = 500;

type Draft = Omit<PlannedChange, "run"> & { run: RunRecord | null };

export function planChange(transition: TransitionToPlan): PlannedChange {
  const { run, event, decision, nowMs } = transition;
  const draft: Draft = {
    run: run && openedBy(run, transition),
    endedRun: null,
    messages: [],
    begins: false,
    lines: [],
    effects: [],
  };
  for (const part of decision.outcome) {
    if (part.kind === "emitted") addLine(draft, part.line);
    else addEffect(draft, part.effect, transition);
  }
  const moved = activeRun(draft);
  if (moved.path.length < MAX_PATH) {
    const state = nameOfState(decision.next.value);
    const move = { atMs: nowMs, event: event.type, state, said: draft.lines.map(({ type }) => type) };
    moved.path = [...moved.path, move];
  }
  return { ...draft, run: moved };
}

/** The run as the event itself changes it, before the chart's outcome is walked. */
function openedBy(run: RunRecord, { event, item, page }: TransitionToPlan): RunRecord {
  const opened: RunRecord = {
    ...run,
    lines: [...run.lines],
    turns: item ? [...run.turns, item] : [...run.turns],
  };
  if (event.type !== "page.answered") return opened;
  return {
    ...opened,
    // The result opens a new stream: its lines begin here.
    streamFrom: run.lines.length,
    terminal: null,
    answered: { callId: event.callId, tool: event.tool },
    speaker: page === null ? run.speaker : { ...run.speaker, page },
  };
}

function addLine(draft: Draft, line: Line): void {
  draft.lines.push(line);
  if (isTerminal(line)) activeRun(draft).terminal = line;
  else joinLine(activeRun(draft).lines, line);
}

function addEffect(draft: Draft, effect: ThreadEffect, transition: TransitionToPlan): void {
  switch (effect.type) {
    case "noteResults":
      for (const result of effect.params.results) activeRun(draft).turns.push({ type: "result", ...result });
      return;
    case "keepReply": {
      const run = activeRun(draft);
      const { outcome } = effect.params;
      run.outcome = outcome;
      draft.messages.push(
        replyMessage({ run, outcome, terminal: run.terminal, ...stamp(draft, transition) }),
      );
      // For the run's next turn, which it does not have: the longest reply would be saved twice for nobody.
      run.turns = [];
      return;
    }
    case "keepMessage": {
      const { message } = transition;
      if (!message) throw new Error("Cannot keep a message: none was given");
      // Only a run that this very transition ended; an earlier one was saved when it ended.
      draft.endedRun = draft.messages.length > 0 ? draft.run : null;
      draft.run = newRun(message);
      draft.begins = true;
      draft.lines = [];
      const { text, runId, clientMessageId, attachments } = message;
      draft.messages.push({
        role: "user",
        content: text,
        runId,
        ...(clientMessageId === undefined ? {} : { clientMessageId }),
        ...(attachments === undefined ? {} : { attachments }),
        ...stamp(draft, transition),
      });
      return;
    }
    case "startTurn":
    case "callTool":
      draft.effects.push(effect);
      return;
    default:
      effect satisfies never;
  }
}

function activeRun({ run }: Draft): RunRecord {
  if (!run) throw new Error("Cannot plan a change: the thread has no run");
  return run;
}

/** Of the next item of the history. */
function stamp(draft: Draft, { messageCount, nowMs, lastMessageAtMs }: TransitionToPlan) {
  const id = String(messageCount + draft.messages.length + 1);
  return { id, createdAtMs: Math.max(nowMs, lastMessageAtMs) };
}

/** A run at its beginning. */
export function newRun({
  runId,
  api,
  userId,
  address,
  speaker,
  saidAtMs,
}: Pick<UserMessage, "runId" | "api" | "userId" | "address" | "speaker" | "saidAtMs">): RunRecord {
  return {
    runId,
    api,
    userId,
    ...(address === undefined ? {} : { address }),
    speaker,
    saidAtMs,
    activeMs: 0,
    turns: [],
    lines: [],
    streamFrom: 0,
    terminal: null,
    answered: null,
    outcome: null,
    path: [],
  };
}
