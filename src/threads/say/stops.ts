import { z } from "zod";
import type { ThreadEvent } from "../../../machines/thread.ts";
import type { Clock } from "../../clock.ts";
import type { InstanceMessage, Store } from "../../store.ts";

/** The events by which one instance asks another to end a run. */
export type StopEvent = Extract<ThreadEvent, { type: "run.cancelled" | "person.asked" | "person.took" }>;

export const stopEvent = z.union([
  z.object({ type: z.literal("run.cancelled"), runId: z.string(), by: z.literal("message").optional() }),
  z.object({
    type: z.literal("person.asked"),
    by: z.enum(["visitor", "transport"]),
    reason: z.string().nullable(),
    queue: z.string().optional(),
    waitMs: z.number(),
    atMs: z.number(),
  }),
  z.object({
    type: z.literal("person.took"),
    name: z.string(),
    takeId: z.string(),
    epoch: z.number(),
    answerMs: z.number().optional(),
    shownAs: z.string().optional(),
    atMs: z.number(),
  }),
]);

/**
 * Runs that somebody wants to end and whose holder has not obeyed yet. If the holder is dead, whichever instance takes the
 * thread ends the run in its claim, instead of asking the model once more for an answer that nobody wants. Best effort, like
 * every message: an instance that has not heard of it goes on with the run, and is asked to end it like any holder.
 */
export interface Stops {
  /** Notes it here. Called again for the same run, it tells every other instance, each once. */
  ask(asked: Stop): void;
  /** A stop that another instance was asked for; false if the message is something else. */
  receive(message: InstanceMessage): boolean;
  /** The event that ends this run, once; null: nobody asked. */
  take(uid: string, runId: string): StopEvent | null;
}

export interface Stop {
  uid: string;
  runId: string;
  event: StopEvent;
}

const TYPE = "stop";
const stop = z.object({ type: z.literal(TYPE), uid: z.string(), runId: z.string(), event: stopEvent });

/** Longer than it takes until a dead process is found, by an observer that is late itself. */
const KEPT_MS = 10_000;
const MOST_KEPT = 1_000;

export function createStops({
  store,
  clock,
  others,
}: {
  store: Pick<Store, "send">;
  clock: Pick<Clock, "elapsed">;
  /** The other processes. */
  others: () => Iterable<string>;
}): Stops {
  /** By uid; the oldest first. */
  const known = new Map<string, Stop & { sinceMs: number; told: Set<string> }>();

  function note({ uid, runId, event }: Stop): void {
    known.delete(uid);
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size >= MOST_KEPT) known.delete(oldest);
    known.set(uid, { uid, runId, event, sinceMs: clock.elapsed(), told: new Set() });
  }

  function knownOf(uid: string, runId: string) {
    const found = known.get(uid);
    return found?.runId === runId && clock.elapsed() - found.sinceMs <= KEPT_MS ? found : null;
  }

  return {
    ask(asked) {
      const { uid, runId, event } = asked;
      const before = knownOf(uid, runId);
      if (!before) return note(asked);
      // One that has just started is known a beat later.
      for (const other of others()) {
        if (before.told.has(other)) continue;
        before.told.add(other);
        store.send(other, { type: TYPE, uid, runId, event });
      }
    },

    receive(received) {
      if (received["type"] !== TYPE) return false;
      const parsed = stop.safeParse(received);
      if (parsed.success) note(parsed.data);
      return true;
    },

    take(uid, runId) {
      const found = knownOf(uid, runId);
      if (found) known.delete(uid);
      return found?.event ?? null;
    },
  };
}
