import type { Line } from "../../machines/line.ts";
import { isTerminal } from "../../machines/line.ts";
import { nobody } from "../../src/threads/dependencies.ts";
import type { ThreadLimits, ThreadObserver } from "../../src/threads/dependencies.ts";
import type { Reply } from "../../src/threads/hold/reply.ts";
import { createThreads } from "../../src/threads/threads.ts";
import type { RunningThreads } from "../../src/threads/threads.ts";
import type { PageAnswer } from "../../src/threads/say/answer.ts";
import type { NewMessage } from "../../src/threads/say/say.ts";
import { systemClock, systemTimers } from "../../src/clock.ts";
import type { Clock, Timers } from "../../src/clock.ts";
import { handOffOf } from "../../src/domain/threads/hand-off.ts";
import type { WhileRunning } from "../../src/domain/channels/channel.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Store } from "../../src/store.ts";
import type { Tracing } from "../../src/trace.ts";
import { createScriptedAgent } from "./scripted-agent.ts";
import type { ScriptedAgent } from "./scripted-agent.ts";

/** One instance of the service's threads over a real store, with an agent that the test plays. */
export interface Instance {
  threads: RunningThreads;
  agent: ScriptedAgent;
  store: Store;
  /** Warnings and errors that were logged. */
  complaints: string[];
}

const limits: ThreadLimits = {
  runTimeoutMs: 60_000,
  runMaxToolCalls: 5,
  toolResultTimeoutMs: 60_000,
  runMaxReplyChars: 10_000,
  threadQueueMax: 2,
  historyBudgetChars: 10_000,
};

export interface InstanceOptions {
  limits?: Partial<ThreadLimits>;
  /** The store's time of day too, so that a test can set it. */
  clock?: Clock;
  /** The store keeps its own time of day, whatever `clock` says. */
  hasStoreTime?: boolean;
  timers?: Timers;
  observer?: ThreadObserver;
  tracing?: Tracing;
  /** How long a thread waits for a person. */
  waitMs?: number;
  answerMs?: number;
  whileRunning?: WhileRunning;
}

export function createInstance(store: Store, options: InstanceOptions = {}): Instance {
  const agent = createScriptedAgent();
  const complaints: string[] = [];
  const complain = (_fields: object, text: string) => void complaints.push(text);
  const isTimeSet = options.clock !== undefined && !options.hasStoreTime;
  const threads = createThreads({
    store: isTimeSet ? { ...store, timeMs: () => null } : store,
    agent,
    clock: options.clock ?? systemClock,
    timers: options.timers ?? systemTimers,
    newId,
    log: { info() {}, warn: complain, error: complain },
    limits: { ...limits, ...options.limits },
    observer: options.observer ?? nobody,
    whileRunning: () => options.whileRunning ?? "queue",
    ...(options.tracing ? { tracing: options.tracing } : {}),
    handOff: () => ({
      ...handOffOf(undefined),
      ...(options.waitMs ? { waitMs: options.waitMs } : {}),
      ...(options.answerMs ? { answerMs: options.answerMs } : {}),
    }),
  });
  return { threads, agent, store, complaints };
}

export function says(uid: string, text: string, clientMessageId: string | null = null): NewMessage {
  const speaker = { displayName: null, page: null, customerContext: null };
  return {
    uid,
    slug: "shop",
    api: "widget",
    userId: "u1",
    speaker,
    text,
    clientMessageId,
    traceparent: null,
  };
}

export function answers(uid: string, callId: string, text = "ok", tool = "cart"): PageAnswer {
  return { uid, slug: "shop", callId, tool, text, isError: false, page: null, traceparent: null };
}

/** A reader of a reply: its lines so far, and the promise of all of them. */
export function readerOf(reply: Reply): { lines: Line[]; all: Promise<Line[]>; next(): Promise<void> } {
  const lines: Line[] = [];
  let wake = () => {};
  const all = new Promise<Line[]>((resolve) => {
    reply.read((taken) => {
      lines.push(...taken);
      wake();
      if (taken.some(isTerminal)) resolve(lines);
    });
  });
  return { lines, all, next: () => new Promise((resolve) => (wake = resolve)) };
}

/** The text of the deltas. */
export function textOfLines(lines: readonly Line[]): string {
  return lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
}
