import { currentCall } from "../../machines/run.ts";
import type { Call, RunLimits, Usage } from "../../machines/run.ts";
import type { ThreadEvent } from "../../machines/thread.ts";
import { threadHost } from "../charts/charts.ts";
import { nextTurn, withImages } from "../threads/hold/next-turn.ts";
import { planChange } from "../threads/hold/plan-change.ts";
import type { Enclosed, PerformedEffect } from "../threads/hold/plan-change.ts";
import { joinLine } from "../threads/hold/run-log.ts";
import { threadStateOf } from "../threads/thread-state.ts";
import { turnEvent } from "../threads/hold/turn-event.ts";
import type { Agent } from "../agent.ts";
import type { Clock } from "../clock.ts";
import { keptAttachments } from "../domain/threads/attachments.ts";
import type { SentAttachment } from "../domain/threads/attachments.ts";
import { newId } from "../domain/ids.ts";
import { withoutSummarized } from "../domain/threads/history-summary.ts";
import type { HistorySummary } from "../domain/threads/history-summary.ts";
import { handOffOf } from "../domain/threads/hand-off.ts";
import type {
  Api,
  Catalog,
  Message,
  NotedCall,
  RunRecord,
  Speaker,
  UserMessage,
} from "../domain/threads/message.ts";
import { textOf } from "../domain/threads/fold-steps.ts";

/** A user's message. */
export interface Saying {
  text: string;
  speaker: Speaker;
  attachments: readonly SentAttachment[];
}

/** The outcome of a user's message. */
export interface Answered {
  reply: string;
  /** The run's error; null: it did not fail. */
  error: string | null;
  turns: { by: string; usage: Usage | null }[];
}

/** A tool's answer; null: it never answers. */
export type Answer = { text: string; isError: boolean } | null;

export interface ConversationOptions {
  agent: Agent;
  slug: string;
  api: Api;
  catalog: Catalog;
  clock: Clock;
  limits: RunLimits & { replyChars: number };
  /** Answers a call of a server's or a page's tool. */
  answer(call: Call, noted: NotedCall, signal: AbortSignal): Promise<Answer>;
}

/** The reply exceeds its limit. */
export class ReplyTooLong extends Error {}

/** A placeholder: nothing is stored, and no user's tokens are counted. */
const NOBODY = "replay";

/**
 * A thread that exists only in memory: its chart, its history and its model's input are made as in a real run, and `answer`
 * answers its tool calls. The user's messages are sent one by one.
 */
export function createConversation(options: ConversationOptions) {
  const { agent, slug, api, catalog, clock, limits } = options;
  const history: Message[] = [];
  let summary: HistorySummary | null = null;
  /** By run: the images sent with its message. */
  const images = new Map<string, string[]>();
  let snapshot = threadHost.initial();
  let run: RunRecord | null = null;
  let noted: NotedCall[] = [];
  let replyChars = 0;

  function move(event: ThreadEvent, enclosed: Partial<Enclosed> = {}): PerformedEffect[] {
    const decision = threadHost.decide(snapshot, event);
    const change = planChange({
      isShown: () => true,
      summarizedTo: 0,
      item: null,
      message: null,
      page: null,
      ...enclosed,
      run,
      event,
      decision,
      messageCount: history.length,
      lastMessageAtMs: history.at(-1)?.createdAtMs ?? 0,
      nowMs: clock.now(),
    });
    snapshot = decision.next;
    run = change.run ?? run;
    history.push(...change.messages);
    return change.effects;
  }

  async function think(present: RunRecord, answered: Answered, signal: AbortSignal) {
    const turn = nextTurn({
      slug,
      run: present,
      history,
      summary,
      catalog,
      traceparent: null,
      usage: snapshot.context.run?.usage ?? null,
    });
    const wrote = (text: string) => {
      joinLine(present.lines, { type: "delta", text });
      replyChars += text.length;
      if (replyChars > limits.replyChars) throw new ReplyTooLong("The reply grew longer than it may");
    };
    const seeing = await withImages(turn, (runId) => Promise.resolve(images.get(runId) ?? []));
    const end = await agent.think(seeing, wrote, signal);
    const item = "item" in end ? end.item : null;
    if (item?.type === "assistant") {
      noted = item.calls;
      answered.turns.push({ by: item.by ?? "", usage: "usage" in end ? end.usage : null });
    }
    return move(
      turnEvent(present.runId, end, clock.now(), () => handOffOf(undefined)),
      { item },
    );
  }

  /** As after each reply of a thread (threads/summaries), but in its turn: the next message waits for it. */
  async function summarize(signal: AbortSignal): Promise<void> {
    const upTo = agent.summarizesTo?.(slug, { summary, tail: history });
    if (typeof upTo !== "number") return;
    const messages = withoutSummarized(history, summary).filter(({ id }) => Number(id) <= upTo);
    const asked = { slug, run: { userId: NOBODY }, traceparent: null, summary, messages };
    const made = await agent.summarize?.(asked, signal);
    if (made) summary = { ...made, upTo, atMs: clock.now() };
  }

  /** What is replayed was approved, or its noted answer says that it was not. */
  function approve(): PerformedEffect[] {
    const { run: active } = snapshot.context;
    if (!active) throw new Error("Cannot approve a call: the thread has no run");
    const { callId } = currentCall(active);
    return move({ type: "call.decided", callId, approved: true, atMs: clock.now() });
  }

  /** One by one: what follows the last answer; null: one is never answered. */
  async function answerCalls(calls: readonly Call[], signal: AbortSignal): Promise<PerformedEffect[] | null> {
    let effects: PerformedEffect[] | null = [];
    for (const call of calls) if (effects !== null) effects = await answerCall(call, signal);
    return effects;
  }

  async function answerCall(call: Call, signal: AbortSignal): Promise<PerformedEffect[] | null> {
    const asNoted = noted.find(({ callId }) => callId === call.callId);
    if (!asNoted) throw new Error("Cannot answer a call: the model did not make it");
    const answer = await options.answer(call, asNoted, signal);
    if (answer === null) return null;
    const { callId, tool } = call;
    const told = { callId, ...answer, atMs: clock.now() };
    return move(
      call.kind === "page" ? { type: "page.answered", tool, ...told } : { type: "tool.returned", ...told },
    );
  }

  return {
    /** Sends a message, and plays its run to the end, or to a page's call that is never answered. */
    async say({ text, speaker, attachments: sent }: Saying, signal: AbortSignal): Promise<Answered> {
      const { attachments, images: own } = keptAttachments(sent);
      const message: UserMessage = {
        runId: newId(),
        api,
        text,
        userId: NOBODY,
        speaker,
        saidAtMs: clock.now(),
        ...(attachments.length > 0 ? { attachments } : {}),
      };
      images.set(message.runId, own);
      const answered: Answered = { reply: "", error: null, turns: [] };
      replyChars = 0;
      const said = { runId: message.runId, atMs: message.saidAtMs, limits };
      let effects: PerformedEffect[] | null = move({ type: "user.said", ...said }, { message });
      while (effects !== null && run !== null) {
        const [effect] = effects;
        if (effect?.type === "startTurn") effects = await think(run, answered, signal);
        else if (effect?.type === "callTools") effects = await answerCalls(effect.params.calls, signal);
        else if (effect) effects = approve();
        else if (threadStateOf(snapshot.value) === "awaiting" && snapshot.context.run)
          effects = await answerCall(currentCall(snapshot.context.run), signal);
        else break;
      }
      await summarize(signal);
      answered.reply = textOf(run?.lines ?? []);
      const terminal = run?.terminal;
      answered.error = terminal?.type === "error" ? terminal.message : null;
      return answered;
    },
  };
}
