import cluster from "node:cluster";
import type { Exposition } from "../../http/metrics-route.ts";
import type { Sample } from "../../metrics/sample.ts";
import type { Signals } from "../signals.ts";
import { isToProcess } from "./messages.ts";
import type { FromProcess } from "./messages.ts";

/** At most this much counting is lost when a process is killed. */
const TELL_SAMPLE_MS = 5_000;

/** Metrics that can be summed with other processes'. */
export interface Samples {
  readonly contentType: string;
  sample(): Promise<Sample>;
  /** The sum of several processes' metrics, in Prometheus' text format. */
  textOf(samples: Sample[]): Promise<string>;
}

/** This process as one of several of a service: what its supervisor asks of it, and what it reports. */
export interface Member {
  /** Unique in the service's life. */
  number: number;
  /** How the supervisor, or an operator, ends it. Further signals are ignored: the supervisor ends a process that hangs. */
  signals: Signals;
  /** Aborted when it is asked to stop, also after it was asked to retire. */
  hurry: AbortSignal;
  listening(told: Record<string, unknown>, greeting: string): void;
  /** Resolves when the message has been sent. */
  failed(reason: string): Promise<void>;
  /** From now on the supervisor gets this process's metrics; the result answers with the metrics of all processes. */
  shareMetrics(metrics: Samples): Exposition & { stop(): Promise<void> };
}

export function joinSupervisor(): Member {
  const worker = cluster.worker;
  if (worker === undefined) throw new Error("Cannot join a supervisor: none started this process");
  const stop = new AbortController();
  const waiting = new Map<number, (samples: Sample[]) => void>();
  let giveSample = async (): Promise<void> => {};
  let leave: (how: Awaited<Signals["first"]>) => void = () => {};
  const first = new Promise<Awaited<Signals["first"]>>((resolve) => (leave = resolve));

  process.on("message", (message: unknown) => {
    if (!isToProcess(message)) return;
    switch (message.type) {
      case "stop":
        leave("SIGTERM");
        stop.abort();
        return;
      case "retire":
        leave("retire");
        return;
      case "give sample":
        void giveSample();
        return;
      case "gathered":
        waiting.get(message.id)?.(message.samples);
        waiting.delete(message.id);
    }
  });
  // A terminal signals all its processes, the supervisor too, and so may systemd: each process then stops itself.
  const receive = (signal: NodeJS.Signals) => {
    leave(signal);
    stop.abort();
  };
  const ignore = () => {};
  process.on("SIGTERM", receive).on("SIGINT", receive).on("SIGHUP", ignore);

  return {
    number: worker.id,
    signals: { first, stop: () => void process.off("SIGTERM", receive).off("SIGINT", receive) },
    hurry: stop.signal,
    listening: (told, greeting) => void tell({ type: "listening", told, greeting }),
    failed: (reason) => tell({ type: "failed", reason }),
    shareMetrics(metrics) {
      let asked = 0;
      giveSample = async () => tell({ type: "sample", sample: await metrics.sample() });
      const telling = setInterval(() => void giveSample(), TELL_SAMPLE_MS).unref();
      return {
        contentType: metrics.contentType,
        async text() {
          const id = asked++;
          const samples = new Promise<Sample[]>((resolve) => waiting.set(id, resolve));
          await tell({ type: "gather", id });
          return metrics.textOf(await samples);
        },
        async stop() {
          clearInterval(telling);
          await giveSample();
        },
      };
    },
  };
}

/** Resolves when the message has been sent. If the supervisor is gone, it resolves at once: this process ends anyway. */
function tell(message: FromProcess): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, {}, () => resolve());
  });
}
