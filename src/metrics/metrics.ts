import type { Registry } from "prom-client";
import type { ThreadObserver } from "../threads/dependencies.ts";
import type { AnsweredRequest } from "../http/handler.ts";
import type { Model, ModelNote } from "../model.ts";
import type { OddAnswer } from "../models/refusals/odd-answers.ts";
import type { MemberCall } from "../models/providers.ts";
import type { QueueLevel } from "../operators/stats/queue-levels.ts";
import type { RetentionProgress } from "../operators/retention/retention-sweep.ts";
import type { Store } from "../store.ts";
import { createInstruments } from "./instruments.ts";
import type { Instruments, PromClient } from "./instruments.ts";
import type { Sample } from "./sample.ts";
import { timedMethods } from "./timed-methods.ts";
import { timedModel } from "./timed-model.ts";

/**
 * The service's metrics for Prometheus (contract, METRICS_PORT). Names begin with `chat_agent_`, times are
 * in seconds; labels are routes, channels, operations and outcomes, never a user, a thread or a text.
 */
export interface Metrics {
  observer: ThreadObserver;
  onAnswered: (answered: AnsweredRequest) => void;
  /** A round trip to Redis. */
  onCommand: (name: string, ms: number) => void;
  /** A turn of a provider's model. */
  onModelCall: (call: MemberCall) => void;
  /** A model's answer was odd. */
  onOddAnswer: (odd: OddAnswer) => void;
  /** An MCP server listed its tools, or ran one. */
  onMcpRequest: (request: Record<"channel" | "server" | "operation" | "outcome", string>) => void;
  /** Spans were exported, or were lost. */
  onSpans: (outcome: string, count: number) => void;
  /** A run ended over a daily cap. */
  onSpent: (spent: { slug: string; cap: string }) => void;
  /** An attempt to deliver to a webhook. */
  onWebhook: (tried: { slug: string; outcome: string }) => void;
  /** What retention has deleted, and how far it is behind. */
  retentionProgress: RetentionProgress;
  /** The same store, each of its calls timed. */
  timeStore(store: Store): Store;
  /** The same model, each of its turns timed. */
  timeModel(model: Model): Model;
  /** Adds gauges that are read with the metrics. */
  watch(levels: Levels): void;
  readonly contentType: string;
  /** In Prometheus' text format. */
  text(): Promise<string>;
  /** For sums with other processes' samples. */
  sample(): Promise<Sample>;
  /** Merges several processes' samples: counts and levels are summed, lags averaged; installation-wide values appear once. */
  textOf(samples: Sample[]): Promise<string>;
}

export interface Levels {
  /** Answers being written, streams included. */
  openStreams(): number;
  /** Threads that this process holds. */
  threadsHeld(): number;
  /** Streams here that wait in a queue, or follow a run of another instance. */
  repliesWaiting(): number;
  /** Feeds that are open here; each is an open stream, too. */
  openFeeds(): number;
  /** Lines of the log that could not be written, since the start. */
  lostLines(): number;
  /** Threads that wait for a person, on all instances together. */
  waitingForPerson(): Promise<number>;
  /** How far each channel's webhooks are behind, over all instances. */
  webhooks(): Promise<QueueLevel[]>;
  /** The same of channels' messengers. */
  messengers(): Promise<QueueLevel[]>;
  /** Threads that a person has taken and not given back, on all instances together. */
  withPerson(): Promise<number>;
  /** What this process knows of its models beside the settings. */
  modelNotes(): readonly Pick<ModelNote, "provider" | "model" | "quirk">[];
}

/** Loads prom-client on first use. */
export async function createMetrics(): Promise<Metrics> {
  const prom = await import("prom-client");
  const registry = new prom.Registry();
  prom.collectDefaultMetrics({ register: registry });
  const instruments = createInstruments(prom, registry);
  const { requests, refused, commands } = instruments;

  return {
    observer: observerWith(instruments),

    onAnswered({ route, status, ms }) {
      requests.observe({ route, status }, ms / 1000);
      if (status === 429) refused.inc({ route });
    },

    onCommand: (command, ms) => commands.observe({ command }, ms / 1000),
    onModelCall: ({ provider, model, outcome }) => instruments.modelCalls.inc({ provider, model, outcome }),
    onOddAnswer: ({ provider, model, oddity }) => instruments.oddAnswers.inc({ provider, model, oddity }),
    onMcpRequest: ({ channel, server, operation, outcome }) =>
      instruments.mcpRequests.inc({ channel, server, operation, outcome }),
    onSpans: (outcome, count) => instruments.spans.inc({ outcome }, count),
    onSpent: ({ slug, cap }) => instruments.overBudget.inc({ channel: slug, cap }),
    onWebhook: ({ slug, outcome }) => instruments.webhooks.inc({ channel: slug, outcome }),
    retentionProgress: {
      deleted: (channel, kind) => instruments.aged.inc({ channel, kind }),
      usersSeen: (channel, count) => instruments.usersSeen.inc({ channel }, count),
      overdue: (channel, ms) => instruments.overdue.set({ channel }, ms / 1000),
    },
    timeStore: (store) => timedStore(store, instruments),
    timeModel: (model) => timedModel(model, instruments),
    watch: (levels) => addGauges(levels, prom, registry),
    contentType: registry.contentType,
    text: () => registry.metrics(),
    sample: () => registry.getMetricsAsJSON(),
    textOf: (samples) => prom.AggregatorRegistry.aggregate(samples).metrics(),
  };
}

function observerWith(instruments: Instruments): ThreadObserver {
  const { moves, toolCalls, runs, takeovers, handOffs, handOffWaits } = instruments;
  return {
    summarized: ({ slug, outcome }) => instruments.summaries.inc({ channel: slug, outcome }),
    moved({ move, lines }) {
      moves.inc({ event: move.event });
      const calls = lines.filter((line) => line.type === "step" && line.phase === "running").length;
      const kind = lines.some((line) => line.type === "tool_call") ? "page" : "server";
      if (calls > 0) toolCalls.inc({ kind }, calls);
    },
    runEnded: ({ slug, outcome, elapsedMs }) => runs.observe({ channel: slug, outcome }, elapsedMs / 1000),
    takenOver: () => takeovers.inc({}),
    answererChanged({ slug, how, waitedMs }) {
      handOffs.inc({ channel: slug, change: how });
      if (waitedMs !== null) handOffWaits.observe({ channel: slug, end: how }, waitedMs / 1000);
    },
  };
}

function timedStore(store: Store, { storeCalls, queued }: Instruments): Store {
  return timedMethods(store, (operation, ms, result) => {
    const outcome = result.ok ? "done" : "failed";
    storeCalls.observe({ operation, outcome }, ms / 1000);
    if (result.ok && (operation === "commit" || operation === "wait")) {
      const type = typeOf(result.value);
      if (type === "waiting" || type === "full") queued.inc({ result: type });
    }
  });
}

/** The `type` of a store's answer; null if it has none. */
function typeOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "type" in value ? value.type : null;
}

function addGauges(levels: Levels, { Gauge }: PromClient, registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `chat_agent_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge("open_streams", "Answers being written, streams included", () => levels.openStreams());
  gauge("threads_held", "Threads that this process holds", () => levels.threadsHeld());
  gauge("replies_waiting", "Streams that wait in a queue or follow a run held elsewhere", () =>
    levels.repliesWaiting(),
  );
  gauge("open_feeds", "Feeds of threads that are kept open; each is an open stream, too", () =>
    levels.openFeeds(),
  );
  gauge("log_lines_lost", "Lines of the log that could not be written, since the start", () =>
    levels.lostLines(),
  );
  const shared = (name: string, help: string, read: () => Promise<number>) =>
    new Gauge({
      name: `chat_agent_${name}`,
      help: `${help}, of all instances: the same number at each of them`,
      registers: [registry],
      aggregator: "max",
      async collect() {
        // One level that cannot be read must not hide all other metrics.
        this.set(await read().catch(() => Number.NaN));
      },
    });
  shared("waiting_for_person", "Threads that wait for a person", () => levels.waitingForPerson());
  shared("with_person", "Threads that a person has now", () => levels.withPerson());
  const webhooks = queueGauges("webhooks", () => levels.webhooks(), { Gauge }, registry);
  webhooks(
    "waiting",
    "Events that wait for a channel's webhooks, of all instances",
    ({ waiting }) => waiting,
  );
  webhooks("oldest_seconds", "Since the oldest of them happened", ({ oldestMs }) => oldestMs / 1000);
  webhooks("off", "Webhooks that answered 410, and are told nothing until they are tested", ({ off }) => off);
  const messengers = queueGauges("messengers", () => levels.messengers(), { Gauge }, registry);
  messengers(
    "waiting",
    "Messages that wait for a channel's messenger, of all instances",
    ({ waiting }) => waiting,
  );
  messengers("oldest_seconds", "Since the oldest of them was written", ({ oldestMs }) => oldestMs / 1000);
  const quirks = new Gauge({
    name: "chat_agent_model_quirks",
    help: "What a model refused, so that it is sent it otherwise for an hour, and `gone` for one that is not there",
    labelNames: ["provider", "model", "quirk"],
    registers: [registry],
    aggregator: "max",
    collect() {
      quirks.reset();
      for (const { provider, model, quirk } of levels.modelNotes()) quirks.inc({ provider, model, quirk });
    },
  });
}

/** Gauges for each channel with deliveries of a kind. All instances report the same numbers. */
function queueGauges(
  kind: string,
  levels: () => Promise<QueueLevel[]>,
  { Gauge }: Pick<PromClient, "Gauge">,
  registry: Registry,
) {
  let reading: Promise<QueueLevel[]> | null = null;
  // If they cannot be read, the gauges are left out: old numbers would look current. All gauges share one reading.
  const read = () =>
    (reading ??= levels()
      .catch(() => [])
      .finally(() => (reading = null)));
  return (name: string, help: string, valueOf: (level: QueueLevel) => number) =>
    new Gauge({
      name: `chat_agent_${kind}_${name}`,
      help,
      labelNames: ["channel"],
      registers: [registry],
      aggregator: "max",
      async collect() {
        const found = await read();
        this.reset();
        for (const level of found) this.set({ channel: level.channel }, valueOf(level));
      },
    });
}
