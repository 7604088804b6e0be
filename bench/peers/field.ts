import { setTimeout as wait } from "node:timers/promises";
import { tell } from "../rig/section.ts";
import type { Subject } from "./subject.ts";

/** A participant: a running subject, or the reason why it does not run, or no longer. */
export interface Entrant {
  name: string;
  subject: Subject | null;
  why: string;
}

/** The results of each, repeat by repeat. Failed participants are left out. */
export type Results<Result> = Map<Entrant, Result[]>;

/** From the command to the address; installing, which may take minutes, comes before it. */
const START_MS = 60_000;
/** No turn takes as long as this, unless a participant hangs. */
const TURN_MS = 90_000;

/** Starts a participant; a failure does not end the run. */
export async function enter(name: string, start: () => Promise<Subject>): Promise<Entrant> {
  tell(`starting ${name}`);
  const entrant: Entrant = { name, subject: null, why: "" };
  try {
    entrant.subject = await within(START_MS, start());
  } catch (error) {
    fail(entrant, error);
  }
  return entrant;
}

/**
 * Runs all of them in turn, for each repeat. One that fails is stopped, so that its unfinished work takes no time from the
 * others, and does not run again.
 */
export async function inTurns<Result>(
  field: readonly Entrant[],
  repeats: number,
  ask: (subject: Subject) => Promise<Result>,
): Promise<Results<Result>> {
  const results: Results<Result> = new Map();
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const entrant of field) {
      if (entrant.subject === null) continue;
      try {
        const result = await within(TURN_MS, ask(entrant.subject));
        results.set(entrant, [...(results.get(entrant) ?? []), result]);
      } catch (error) {
        const { subject } = entrant;
        fail(entrant, error);
        results.delete(entrant);
        await subject.stop();
      }
    }
  }
  return results;
}

function fail(entrant: Entrant, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  tell(`${entrant.name}: ${reason}`);
  entrant.subject = null;
  entrant.why = reason.replaceAll(/\s+/g, " ").replaceAll("|", "/").slice(0, 120);
}

async function within<Result>(ms: number, promise: Promise<Result>): Promise<Result> {
  const late = wait(ms, null, { ref: false }).then(() => {
    throw new Error(`Cannot wait any longer: ${ms / 1000} s are over`);
  });
  return Promise.race([promise, late]);
}
