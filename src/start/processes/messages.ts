import type { Sample } from "../../metrics/sample.ts";

/**
 * The messages between a process of the service and its supervisor. Both come from one build and run on one machine; a
 * value of another shape is another library's message, and is ignored.
 */
export type FromProcess =
  /** It takes requests. `told` goes into the log, `greeting` to stderr. */
  | { type: "listening"; told: Record<string, unknown>; greeting: string }
  /** Its start failed: one line for people. */
  | { type: "failed"; reason: string }
  /** Its current metrics; also sent unasked, at intervals and before it ends. */
  | { type: "sample"; sample: Sample }
  /** A client asks it for the metrics of all processes. */
  | { type: "gather"; id: number };

export type ToProcess =
  /** Stop: open streams have the grace period to end. */
  | { type: "stop" }
  /** Another process has taken its place: it takes no new connections, and open streams have all the time they need. */
  | { type: "retire" }
  | { type: "give sample" }
  /** The answer to `gather`. */
  | { type: "gathered"; id: number; samples: Sample[] };

const FROM_PROCESS: ReadonlySet<unknown> = new Set(["listening", "failed", "sample", "gather"]);
const TO_PROCESS: ReadonlySet<unknown> = new Set(["stop", "retire", "give sample", "gathered"]);

export function isFromProcess(message: unknown): message is FromProcess {
  return FROM_PROCESS.has(typeOf(message));
}

export function isToProcess(message: unknown): message is ToProcess {
  return TO_PROCESS.has(typeOf(message));
}

function typeOf(message: unknown): unknown {
  return typeof message === "object" && message !== null && "type" in message ? message.type : null;
}
