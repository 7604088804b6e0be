import { durationText } from "../parts/durations.ts";
import type { DeliveryView, WebhookView } from "../service/views.ts";

/** How an endpoint stands, in a word, and in the colour of a flag. */
export type Standing =
  | { kind: "bad"; word: "off" }
  | { kind: "awaiting"; word: "failing"; why: string }
  | { kind: "well"; word: "on" };

export function standingOf({ offSince, deliveries, waiting }: WebhookView): Standing {
  if (offSince !== null) return { kind: "bad", word: "off" };
  const [last] = deliveries;
  // With nothing that waits its failures are over: they were sent again, or given up and dropped.
  if (waiting === 0 || last === undefined || last.fault === null) return { kind: "well", word: "on" };
  return {
    kind: "awaiting",
    word: "failing",
    why: `It did not take the last that was sent: ${faultText(last)}. It is tried again, later each time, for three days.`,
  };
}

/** What a test found. */
export interface Tested {
  delivered: boolean;
  status: number | null;
  fault: string | null;
  elapsedMs: number;
}

export function testText({ delivered, ...sent }: Tested): string {
  if (delivered) return `It took the test: ${sent.status ?? ""}, after ${durationText(sent.elapsedMs)}.`;
  return `It did not take the test: ${faultText(sent)}.`;
}

/** Why one was not taken; the status is said once. */
export function faultText({ status, fault }: Pick<DeliveryView, "status" | "fault">): string {
  const words = fault ?? "it answered nothing";
  return status === null || words.includes(String(status)) ? words : `${status}, ${words}`;
}
