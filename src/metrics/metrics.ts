import type { ThreadObserver } from "../actors/dependencies.ts";
import type { AnsweredRequest } from "../http/answered-request.ts";
import type { Model } from "../model.ts";
import type { Store } from "../store.ts";
import { timed } from "./timed.ts";

/**
 * What the service counts and times, for Prometheus (contract, METRICS_PORT). Names begin with `chat_agent_`, times are
 * in seconds; labels are routes, channels, operations and outcomes, never a user, a thread or a text.
 */
export interface Metrics {
  observer: ThreadObserver;
  onAnswered: (answered: AnsweredRequest) => void;
  /** A round trip to Redis. */
  onCommand: (name: string, ms: number) => void;
  /** The same store, each of its calls timed. */
  timeStore(store: Store): Store;
  /** The same model, each of its turns timed. */
  timeModel(model: Model): Model;
  /** Levels that are read when somebody asks. */
  watch(levels: Levels): void;
  readonly contentType: string;
  /** In Prometheus' text format. */
  text(): Promise<string>;
}

export interface Levels {
  /** Answers being written, streams included. */
  openStreams(): number;
  /** Threads that this process holds. */
  threadsHeld(): number;
  /** Streams here that wait in a queue, or follow a run of another instance. */
  repliesWaiting(): number;
}

const QUICK = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2];
const SLOW = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Loads prom-client, which costs 12 MB: only who counts pays for it. */
export async function createMetrics(): Promise<Metrics> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = await import("prom-client");
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `chat_agent_${name}`, help, labelNames, registers });
  const times = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ) => new Histogram({ name: `chat_agent_${name}`, help, labelNames, buckets, registers });

  const requests = times(
    "request_seconds",
    "Time to the answer's head, of a stream too",
    ["route", "status"],
    QUICK,
  );
  const refused = counter("refused_by_limit_total", "Requests over a rate limit or behind a full queue", [
    "route",
  ]);
  const runs = times("run_seconds", "From the user's message to the run's end", ["channel", "outcome"], SLOW);
  const moves = counter("thread_events_total", "Events that moved a thread", ["event"]);
  const toolCalls = counter("tool_calls_total", "Tool calls that were issued", ["kind"]);
  const takeovers = counter("takeovers_total", "Runs taken up from a process that was gone", []);
  const queued = counter("queued_messages_total", "Messages behind an active run, by what became of them", [
    "result",
  ]);
  const firstTexts = times(
    "model_first_text_seconds",
    "From a model call to its first text",
    ["model"],
    SLOW,
  );
  const turns = times("model_turn_seconds", "A model call from end to end", ["model", "outcome"], SLOW);
  const tokens = counter("model_tokens_total", "Tokens as the model server told them", [
    "model",
    "direction",
  ]);
  const storeCalls = times("store_call_seconds", "Store calls by operation", ["operation", "outcome"], QUICK);
  const commands = times("redis_command_seconds", "Round trips to Redis", ["command"], QUICK);

  return {
    observer: {
      moved({ move, lines }) {
        moves.inc({ event: move.event });
        const calls = lines.filter((line) => line.type === "step" && line.phase === "running").length;
        const kind = lines.some((line) => line.type === "tool_call") ? "page" : "server";
        if (calls > 0) toolCalls.inc({ kind }, calls);
      },
      runEnded: ({ slug, outcome, elapsedMs }) => runs.observe({ channel: slug, outcome }, elapsedMs / 1000),
      takenOver: () => takeovers.inc(),
    },

    onAnswered({ route, status, ms }) {
      requests.observe({ route, status }, ms / 1000);
      if (status === 429) refused.inc({ route });
    },

    onCommand: (command, ms) => commands.observe({ command }, ms / 1000),

    timeStore: (store) =>
      timed(store, (operation, ms, result) => {
        const outcome = result.ok ? "done" : "failed";
        storeCalls.observe({ operation, outcome }, ms / 1000);
        if (result.ok && (operation === "commit" || operation === "wait")) {
          const type = typeOf(result.value);
          if (type === "waiting" || type === "full") queued.inc({ result: type });
        }
      }),

    timeModel: (model) => ({
      ...model,
      async stream(request, wrote, signal) {
        const { model: name } = request;
        const beganAt = performance.now();
        const seconds = () => (performance.now() - beganAt) / 1000;
        let wroteBefore = false;
        const tell = (text: string) => {
          if (!wroteBefore) firstTexts.observe({ model: name }, seconds());
          wroteBefore = true;
          return wrote(text);
        };
        try {
          const turn = await model.stream(request, tell, signal);
          turns.observe({ model: name, outcome: "done" }, seconds());
          tokens.inc({ model: name, direction: "input" }, turn.usage?.input ?? 0);
          tokens.inc({ model: name, direction: "output" }, turn.usage?.output ?? 0);
          return turn;
        } catch (error) {
          turns.observe({ model: name, outcome: signal.aborted ? "aborted" : "failed" }, seconds());
          throw error;
        }
      },
    }),

    watch(levels) {
      const gauge = (name: string, help: string, read: () => number) =>
        new Gauge({
          name: `chat_agent_${name}`,
          help,
          registers,
          collect() {
            this.set(read());
          },
        });
      gauge("open_streams", "Answers being written, streams included", () => levels.openStreams());
      gauge("threads_held", "Threads that this process holds", () => levels.threadsHeld());
      gauge("replies_waiting", "Streams that wait in a queue or follow a run held elsewhere", () =>
        levels.repliesWaiting(),
      );
    },

    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}

/** The `type` of a store's answer; null if it has none. */
function typeOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "type" in value ? value.type : null;
}
