import type { StateValue } from "xstate";
import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import type { HandedBack } from "../../../machines/person.ts";
import type { ThreadEffect, ThreadEvent } from "../../../machines/thread.ts";
import type { Message, RunMove, RunRecord, TurnItem, UserMessage } from "../../domain/threads/message.ts";
import type { RunOutcome } from "../../../machines/run.ts";
import { replyMessage } from "../../domain/threads/past-run.ts";
import type { ThreadCommit } from "../../store.ts";
import type { Decision } from "../../charts/host.ts";
import { joinLine } from "./run-log.ts";
import { nameOfState } from "../thread-state.ts";

/**
 * Plans what to save, send and perform for one transition of a thread.
 *
 * The chart's outcome is processed in order: emitted lines go to the run that is active at that point, `note…` and
 * `keep…` effects go into the save, and the rest is performed after it. Pure: ids and time are passed in.
 */
export interface PlannedChange {
  /**
   * The run to save: the active one, or the last one if this transition ended it; null if there is no run to save.
   */
  run: RunRecord | null;
  /** The run that this transition ended before it began `run`. */
  endedRun: RunRecord | null;
  /** New items of the history. */
  messages: Message[];
  /** A branch begins: what is in the chosen one no longer. */
  hides?: NonNullable<ThreadCommit["hides"]>;
  /** True where `run` began in this transition. */
  begins: boolean;
  /** Lines for the readers of `run`. */
  lines: Line[];
  /** Effects to perform once the change is saved. */
  effects: PerformedEffect[];
  /** The transition in short form, as it is stored with the run. */
  move: RunMove;
}

/** Effects that are performed after the save; the others are part of it. */
export type PerformedEffect = Extract<ThreadEffect, { type: "startTurn" | "callTools" | "awaitApproval" }>;

/** Data that accompanies an event. */
export interface Enclosed {
  /** The model's output of the turn that the event ends. */
  item: TurnItem | null;
  /** With `user.said`: the message. With `service.instructed`: what the run is to say, as a message of nobody. */
  message: UserMessage | null;
  /** With `person.said`: the text. */
  text?: string;
  /** With `page.answered`: the page that the visitor is on now; null: unchanged. */
  page: string | null;
}

export interface TransitionToPlan extends Enclosed {
  run: RunRecord | null;
  event: ThreadEvent;
  decision: Pick<Decision<{ value: StateValue }, Line, ThreadEffect>, "next" | "outcome">;
  messageCount: number;
  /** Is this id of an item of the chosen branch? */
  isShown: (id: string) => boolean;
  /** Up to which item a summary covers the history; 0: there is none. */
  summarizedTo: number;
  lastMessageAtMs: number;
  nowMs: number;
}

/** How many transitions are stored with a run for the console's chart; later ones are left out. */
const MAX_PATH = 500;

type Draft = Omit<PlannedChange, "move"> & { handedBack: HandedBack | null };

export function planChange(transition: TransitionToPlan): PlannedChange {
  const { run, event, decision, nowMs } = transition;
  const { handedBack: _, ...draft } = walked(transition, run);
  const move = {
    atMs: nowMs,
    event: event.type,
    state: nameOfState(decision.next.value),
    said: draft.lines.map(({ type }) => type),
  };
  const moved = draft.run;
  if (moved && moved.path.length < MAX_PATH) moved.path = [...moved.path, move];
  return { ...draft, move };
}

function walked(transition: TransitionToPlan, run: RunRecord | null): Draft {
  const { decision } = transition;
  const draft: Draft = {
    // A run that is over is not changed any more.
    run: run?.outcome === null ? openedBy(run, transition) : null,
    endedRun: null,
    messages: [],
    begins: false,
    lines: [],
    effects: [],
    handedBack: null,
  };
  for (const part of decision.outcome) {
    if (part.kind === "emitted") addLine(draft, part.line);
    else addEffect(draft, part.effect, transition);
  }
  return draft;
}

/** Applies the event itself to the run, before the chart's outcome. */
function openedBy(run: RunRecord, { event, item, page }: TransitionToPlan): RunRecord {
  const opened: RunRecord = {
    ...run,
    lines: [...run.lines],
    turns: item ? [...run.turns, item] : [...run.turns],
  };
  if (event.type === "call.decided") {
    const { callId, approved } = event;
    return { ...opened, decided: [...(run.decided ?? []), { callId, approved }] };
  }
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
      const { outcome, isGoneOnWith = false } = effect.params;
      return endRun(draft, outcome, transition, { isKept: true, isGoneOnWith });
    }
    case "leaveToPerson":
      return endRun(draft, "done", transition, {
        isKept: saidSomething(activeRun(draft)),
        isGoneOnWith: false,
      });
    case "noteHandedBack":
      draft.handedBack = effect.params.handedBack;
      return;
    case "keepPersonMessage": {
      const author = { type: "person" as const, name: effect.params.name };
      draft.messages.push({ ...notAsked(transition.text ?? "", draft, transition), author });
      return;
    }
    case "keepNotice":
      draft.messages.push(notAsked(effect.params.text, draft, transition));
      return;
    case "keepInstruction":
      begin(draft, transition).turns = [{ type: "instruction", text: transition.message?.text ?? "" }];
      return;
    case "keepAgain":
      answerAgain(draft, transition);
      return;
    case "keepNothing":
      begin(draft, transition);
      return;
    case "keepMessageForPerson":
    case "keepMessage": {
      const { message } = transition;
      if (!message) throw new Error("Cannot keep a message: none was given");
      begin(draft, transition);
      const isAnswered = effect.type === "keepMessage";
      // Another branch may have been chosen while it waited: then it is added to that one.
      const replaces =
        isAnswered && message.replaces !== undefined && transition.isShown(message.replaces)
          ? message.replaces
          : null;
      if (replaces !== null) hide(draft, transition, replaces);
      const { text, runId, clientMessageId, attachments, files } = message;
      draft.messages.push({
        role: "user",
        content: text,
        runId,
        ...(clientMessageId === undefined ? {} : { clientMessageId }),
        ...(attachments === undefined ? {} : { attachments }),
        ...(files === undefined ? {} : { files }),
        ...(isAnswered ? {} : { handledBy: "person" as const }),
        ...(replaces === null ? {} : { replaces }),
        ...(draft.handedBack ? { handedBack: draft.handedBack } : {}),
        ...stamp(draft, transition),
      });
      return;
    }
    case "startTurn":
    case "callTools":
    case "awaitApproval":
      draft.effects.push(effect);
      return;
    default:
      effect satisfies never;
  }
}

function begin(draft: Draft, { message }: TransitionToPlan): RunRecord {
  if (!message) throw new Error("Cannot begin a run: no message was given");
  // Only a run that this transition ended; an earlier one was saved when it ended.
  draft.endedRun = draft.messages.length > 0 ? draft.run : null;
  draft.begins = true;
  draft.lines = [];
  return (draft.run = newRun(message));
}

function answerAgain(draft: Draft, transition: TransitionToPlan): void {
  const again = transition.message?.again;
  if (!again) throw new Error("Cannot answer a message again: none was named");
  const run = begin(draft, transition);
  // Another reply may have come in that one's place meanwhile.
  const replaces = transition.isShown(again.replaces) ? again.replaces : String(Number(again.answers) + 1);
  hide(draft, transition, replaces);
  run.again = { ...again, replaces };
}

/** A branch begins in the place of an item: it and what followed it are no longer in the chosen one. */
function hide(draft: Draft, { summarizedTo, messageCount }: TransitionToPlan, replaces: string): void {
  const from = Number(replaces);
  const to = messageCount + draft.messages.length;
  if (to >= from) draft.hides = { from, to, summarized: summarizedTo >= from };
}

/** Ends the run, and adds its reply to the history. */
function endRun(
  draft: Draft,
  outcome: RunOutcome,
  transition: TransitionToPlan,
  { isKept, isGoneOnWith }: { isKept: boolean; isGoneOnWith: boolean },
): void {
  const run = activeRun(draft);
  run.outcome = outcome;
  if (isKept) {
    const { terminal } = run;
    draft.messages.push(replyMessage({ run, outcome, terminal, isGoneOnWith, ...stamp(draft, transition) }));
  }
  // Only a next turn would need these, and there is none: a long reply would be saved twice for nothing.
  run.turns = [];
}

function saidSomething({ lines, kept }: RunRecord): boolean {
  return lines.length > 0 || kept !== undefined;
}

/** The `runId` of an item that no run produced, and the item's id from it. */
const ITEM = "item-";
const runOfItem = (id: string) => `${ITEM}${id}`;
export const itemOfRun = (runId: string) => runId.slice(ITEM.length);

/** A message that no run produced: a person's, or the service's own. */
function notAsked(content: string, draft: Draft, transition: TransitionToPlan): Message {
  const stamped = stamp(draft, transition);
  return { role: "assistant", content, runId: runOfItem(stamped.id), ...stamped };
}

function activeRun({ run }: Draft): RunRecord {
  if (!run) throw new Error("Cannot plan a change: the thread has no run");
  return run;
}

/** Id and time of the next item of the history. */
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
