import type { Sample } from "../../metrics/sample.ts";

/**
 * What a process of the service and its supervisor tell each other. Both come from one build and one machine; what has
 * not the shape of a message is another library's, and is ignored.
 */
export type FromProcess =
  /** It takes requests. `told` goes into the log, `greeting` to people. */
  | { type: "listening"; told: Record<string, unknown>; greeting: string }
  /** Its start failed: one line for people. */
  | { type: "failed"; reason: string }
  /** Its metrics now; without being asked for, from time to time and before it ends. */
  | { type: "sample"; sample: Sample }
  /** Somebody asks it for the metrics of all. */
  | { type: "gather"; id: number };

export type ToProcess =
  /** Open streams have the grace to end. */
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
