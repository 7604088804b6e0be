import type { StateValue } from "xstate";
import { isTerminal } from "../../machines/line.ts";
import type { Line } from "../../machines/line.ts";
import type { NotedResult, RunOutcome } from "../../machines/run.ts";
import type { ThreadEvent } from "../../machines/thread.ts";
import type { Message, RunRecord, TurnItem, UserMessage } from "../domain/message.ts";
import { replyMessage } from "../domain/past-run.ts";
import type { ThreadState } from "../store.ts";
import type { Decision, Effect } from "./host.ts";
import { joinLine } from "./run-log.ts";

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
  said: Line[];
  /** Effects to perform once the change is saved. */
  effects: Effect[];
}

/** Transitions kept with a run, for the inspector: the first ones, then the rest is left out. */
const MAX_PATH = 500;

/** `running.thinking` for `{ running: "thinking" }`. */
export function nameOfState(value: StateValue): string {
  if (typeof value === "string") return value;
  return Object.entries(value)
    .map(([parent, child]) => (child === undefined ? parent : `${parent}.${nameOfState(child)}`))
    .join("|");
}

/** What the store is told of a chart's state. */
export function threadStateOf(value: StateValue): ThreadState {
  if (value === "idle") return "idle";
  return value === "awaitingPageTool" ? "awaiting" : "running";
}

function beginRun(message: UserMessage): RunRecord {
  return {
    runId: message.runId,
    api: message.api,
    userId: message.userId,
    speaker: message.speaker,
    saidAtMs: message.saidAtMs,
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

/** The run as the event itself changes it, before the chart's outcome is walked. */
function openedBy(run: RunRecord, event: ThreadEvent, item: TurnItem | null, page: string | null): RunRecord {
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

export function planChange(options: {
  run: RunRecord | null;
  event: ThreadEvent;
  decision: Pick<Decision<{ value: StateValue }, Line>, "next" | "outcome">;
  /** What the model said in the turn that the event ends. */
  item: TurnItem | null;
  /** The message that `user.said` speaks of. */
  message: UserMessage | null;
  /** With `page.answered`: where the visitor is now. */
  page: string | null;
  messageCount: number;
  lastMessageAtMs: number;
  nowMs: number;
}): PlannedChange {
  const { event, decision, item, message, page, nowMs } = options;
  const createdAtMs = Math.max(nowMs, options.lastMessageAtMs);
  const messages: Message[] = [];
  const nextId = () => String(options.messageCount + messages.length + 1);

  let run = options.run && openedBy(options.run, event, item, page);
  let endedRun: RunRecord | null = null;
  let begins = false;
  let said: Line[] = [];
  const effects: Effect[] = [];

  const active = (): RunRecord => {
    if (!run) throw new Error(`Cannot draw up a change: the thread has no run for ${event.type}`);
    return run;
  };

  for (const part of decision.outcome) {
    if (part.kind === "emitted") {
      said.push(part.line);
      if (isTerminal(part.line)) active().terminal = part.line;
      else joinLine(active().lines, part.line);
      continue;
    }
    const { effect } = part;
    switch (effect.type) {
      case "noteResults": {
        const { results } = effect.params as { results: NotedResult[] };
        active().turns.push(...results.map((result) => ({ type: "result" as const, ...result })));
        break;
      }
      case "keepReply": {
        const { outcome } = effect.params as { outcome: RunOutcome };
        const ended = active();
        ended.outcome = outcome;
        messages.push(
          replyMessage({ run: ended, outcome, terminal: ended.terminal, id: nextId(), createdAtMs }),
        );
        // For the run's next turn, which it does not have: the longest reply would be saved twice for nobody.
        ended.turns = [];
        break;
      }
      case "keepMessage": {
        if (!message) throw new Error("Cannot keep a message: none was given");
        // Only a run that this very transition ended; an earlier one was saved when it ended.
        endedRun = messages.length > 0 ? run : null;
        run = beginRun(message);
        begins = true;
        said = [];
        messages.push({
          id: nextId(),
          role: "user",
          content: message.text,
          createdAtMs,
          runId: message.runId,
        });
        break;
      }
      default:
        effects.push(effect);
    }
  }

  const moved = active();
  if (moved.path.length < MAX_PATH) {
    moved.path = [
      ...moved.path,
      {
        atMs: nowMs,
        event: event.type,
        state: nameOfState(decision.next.value),
        said: said.map((line) => line.type),
      },
    ];
  }
  return { run: moved, endedRun, messages, begins, said, effects };
}
