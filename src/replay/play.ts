import type { Usage } from "../../machines/run.ts";
import { createAgent } from "../agent/create-agent.ts";
import type { Clock } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import type { Log } from "../log.ts";
import { ModelFault } from "../model.ts";
import type { Model } from "../model.ts";
import type { ReplayCase } from "./case.ts";
import { speakerOf } from "./case.ts";
import { createConversation, ReplyTooLong } from "./conversation.ts";
import type { Answer } from "./conversation.ts";
import { recordedSessions } from "./recorded-sessions.ts";
import { createRecording, withoutProgress } from "./recording.ts";
import type { MadeCall } from "./recording.ts";
import type { StandIn } from "./stand-in.ts";

/** The outcome of an exchange in the replay. */
export interface PlayedExchange {
  reply: string;
  error: string | null;
  calls: PlayedCall[];
  turns: { by: string; usage: Usage | null }[];
}

export interface PlayedCall extends MadeCall {
  /** null: never answered, as in the record. */
  answeredBy: "record" | "model" | null;
}

export interface PlayedCase {
  recorded: ReplayCase;
  /** The finished exchanges, in the order of the record. */
  exchanges: PlayedExchange[];
  /** Why the case was not finished; null: it was. `exchange`: counted from 0. */
  ended: { exchange: number; reason: string; isFault: boolean } | null;
  elapsedMs: number;
}

export interface PlayOptions {
  model: Model;
  /** The model for cases that name none. */
  defaultModel: string;
  /** Instead of the case's own. */
  overrides: { model?: string; instructions?: string };
  standIn: StandIn | null;
  limits: {
    toolCalls: number;
    toolResultMs: number;
    replyChars: number;
    runMs: number;
    inputTokens: number;
  };
  clock: Clock;
  log: Log;
}

/** The case cannot go on. */
class CaseEnded extends Error {}

/** Sends the user's messages again, one after the other, each after the new replies. */
export async function playCase(
  recorded: ReplayCase,
  options: PlayOptions,
  signal: AbortSignal,
): Promise<PlayedCase> {
  const { clock, limits } = options;
  const startedAt = clock.elapsed();
  const played: PlayedCase = { recorded, exchanges: [], ended: null, elapsedMs: 0 };
  const agent = createAgent({
    model: options.model,
    channel: () => channelOf(recorded, options.overrides),
    defaultModel: options.defaultModel,
    maxInputTokens: limits.inputTokens,
    clock,
    log: options.log,
    mcp: recordedSessions(recorded),
  });
  const recording = createRecording(recorded.exchanges);
  let calls: PlayedCall[] = [];

  async function answer(made: MadeCall, kind: "page" | "server", stop: AbortSignal): Promise<Answer> {
    const exchange = played.exchanges.length;
    const same = recording.find(exchange, made);
    if (same && same.result !== null) {
      calls.push({ ...made, answeredBy: "record" });
      return { text: same.result, isError: same.isError ?? false };
    }
    // A page may be gone for ever, and the visitor may continue without it; a server's tool always answers.
    if (same && kind === "page") {
      calls.push({ ...made, answeredBy: null });
      return null;
    }
    if (options.standIn === null) throw new CaseEnded(neverMade(made));
    calls.push({ ...made, answeredBy: "model" });
    return { text: await options.standIn(recorded, made, stop), isError: false };
  }

  const conversation = createConversation({
    agent,
    slug: recorded.channel ?? "replay",
    api: apiOf(recorded),
    catalog: recorded.pageTools,
    clock,
    limits,
    answer: (call, { offeredName, arguments: text }, stop) =>
      answer({ tool: offeredName, arguments: withoutProgress(call.arguments), text }, call.kind, stop),
  });

  try {
    for (const { user: text, visitor, attachments = [] } of recorded.exchanges) {
      calls = [];
      const speaker = speakerOf({ ...recorded.visitor, ...visitor });
      const stop = AbortSignal.any([signal, AbortSignal.timeout(limits.runMs)]);
      played.exchanges.push({ ...(await conversation.say({ text, speaker, attachments }, stop)), calls });
    }
  } catch (error) {
    signal.throwIfAborted();
    played.ended = { exchange: played.exchanges.length, ...whyEnded(error) };
  } finally {
    await agent.close();
  }
  return { ...played, elapsedMs: clock.elapsed() - startedAt };
}

function channelOf({ agent, channel }: ReplayCase, overrides: PlayOptions["overrides"]): Channel {
  return {
    slug: channel ?? "replay",
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    enabled: true,
    accessMode: "open",
    agent: { ...agent, ...overrides },
  };
}

function apiOf({ api, pageTools }: Pick<ReplayCase, "api" | "pageTools">): "widget" | "server" {
  return api ?? (pageTools.length > 0 ? "widget" : "server");
}

function neverMade({ tool, arguments: args }: MadeCall): string {
  return `it called ${tool}(${JSON.stringify(args)}), which was never called so: --tool-model could answer it`;
}

function whyEnded(error: unknown): { reason: string; isFault: boolean } {
  if (error instanceof CaseEnded) return { reason: error.message, isFault: false };
  if (error instanceof ReplyTooLong) return { reason: error.message, isFault: false };
  if (error instanceof ModelFault) return { reason: error.message, isFault: true };
  if (error instanceof Error && error.name === "TimeoutError")
    return { reason: "The run took longer than it may", isFault: false };
  throw error;
}
