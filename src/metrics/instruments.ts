import type { Registry } from "prom-client";
import { Counter, Histogram } from "./plain-numbers.ts";

/** Buckets in seconds, for work that should take milliseconds. */
const QUICK = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];
/** Buckets in seconds, for waits for a person. */
const HUMAN = [1, 5, 15, 30, 60, 120, 300, 600, 1_200, 3_600];
/** Buckets in seconds, for waits for a model. */
const SLOW = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Loaded on first use: it costs 12 MB. */
export type PromClient = typeof import("prom-client");

export type Instruments = ReturnType<typeof createInstruments>;

/** Everything that is counted and timed. Names begin with `chat_agent_`, times are in seconds. */
export function createInstruments({ Gauge }: PromClient, registry: Registry) {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `chat_agent_${name}`, help, labelNames }, registry);
  const times = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: readonly number[],
  ) => new Histogram({ name: `chat_agent_${name}`, help, labelNames }, buckets, registry);

  return {
    requests: times(
      "request_seconds",
      "Time to the answer's head, of a stream too",
      ["route", "status"],
      QUICK,
    ),
    refused: counter("refused_by_limit_total", "Requests over a rate limit or behind a full queue", [
      "route",
    ]),
    runs: times("run_seconds", "From the user's message to the run's end", ["channel", "outcome"], SLOW),
    moves: counter("thread_events_total", "Events that moved a thread", ["event"]),
    toolCalls: counter("tool_calls_total", "Tool calls that were issued", ["kind"]),
    summaries: counter(
      "history_summaries_total",
      "Summaries of the beginnings of long conversations, by what came of them",
      ["channel", "outcome"],
    ),
    takeovers: counter("takeovers_total", "Runs taken up from a process that was gone", []),
    handOffs: counter("handoffs_total", "Changes of who answers in a thread", ["channel", "change"]),
    handOffWaits: times(
      "handoff_wait_seconds",
      "From the asking for a person to a person, or to the end of the wait",
      ["channel", "end"],
      HUMAN,
    ),
    queued: counter("queued_messages_total", "Messages behind an active run, by what became of them", [
      "result",
    ]),
    firstTexts: times("model_first_text_seconds", "From a model call to its first text", ["model"], SLOW),
    turns: times("model_turn_seconds", "A model call from end to end", ["model", "outcome"], SLOW),
    modelCalls: counter("model_calls_total", "Turns asked of a provider's model, by what came of them", [
      "provider",
      "model",
      "outcome",
    ]),
    modelEnds: counter("model_ends_total", "Turns of a model by their finish_reason; none: it sent none", [
      "model",
      "reason",
    ]),
    oddAnswers: counter(
      "model_odd_answers_total",
      "Answers of a provider's model that were odd, by what was",
      ["provider", "model", "oddity"],
    ),
    mcpRequests: counter("mcp_requests_total", "Lists and calls of tools of MCP servers", [
      "channel",
      "server",
      "operation",
      "outcome",
    ]),
    spans: counter("trace_spans_total", "Spans of traces, by what became of them", ["outcome"]),
    overBudget: counter("over_daily_cap_total", "Runs that ended because a day's tokens were used up", [
      "channel",
      "cap",
    ]),
    webhooks: counter("webhook_tries_total", "Tries to tell a webhook, by what came of them", [
      "channel",
      "outcome",
    ]),
    tokens: counter("model_tokens_total", "Tokens as the model server told them", ["model", "direction"]),
    aged: counter("retention_deleted_total", "What was deleted because it was past its date", [
      "channel",
      "kind",
    ]),
    usersSeen: counter("retention_users_seen_total", "Users whose date retention looked at", ["channel"]),
    overdue: new Gauge({
      name: "chat_agent_retention_overdue_seconds",
      help: "For how long the thread that rests longest is past its date; 0: none is",
      labelNames: ["channel"],
      aggregator: "max",
      registers: [registry],
    }),
    storeCalls: times("store_call_seconds", "Store calls by operation", ["operation", "outcome"], QUICK),
    commands: times("redis_command_seconds", "Round trips to Redis", ["command"], QUICK),
  };
}
