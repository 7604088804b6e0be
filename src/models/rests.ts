import type { Clock } from "../clock.ts";

/** How long a provider rests after it failed: the pause doubles with each failure in a row. */
const FIRST_REST_MS = 15_000;
const LONGEST_REST_MS = 300_000;

interface State {
  failures: number;
  restsUntilMs: number;
  /** Its rest is over and one turn is trying it; other turns still skip it. */
  isTried: boolean;
}

/** Which members of chains failed lately. A member is PROVIDER/MODEL: another model of the provider may be well. */
export interface Rests {
  /** It failed lately, or its rest is over and another turn is trying it. */
  rests(member: string): boolean;
  /** A turn asks it: after a rest only this turn does, until the outcome is known. */
  asked(member: string): void;
  failed(member: string, restMs: number | null): void;
  /** The turn left before the outcome was known: after a rest the next turn tries it. */
  left(member: string): void;
  /** It answered, even if only to refuse the request. */
  well(member: string): void;
}

export function createRests(clock: Pick<Clock, "elapsed">): Rests {
  const states = new Map<string, State>();
  return {
    rests(member) {
      const state = states.get(member);
      return state !== undefined && (state.isTried || clock.elapsed() < state.restsUntilMs);
    },

    asked(member) {
      const state = states.get(member);
      if (state) state.isTried = true;
    },

    failed(member, restMs) {
      const nowMs = clock.elapsed();
      const state = states.get(member);
      // Turns that asked it together fail together: that counts as one failure.
      const isKnown = state !== undefined && !state.isTried && nowMs < state.restsUntilMs;
      const failures = (state?.failures ?? 0) + (isKnown ? 0 : 1);
      const doubled = Math.min(FIRST_REST_MS * 2 ** (failures - 1), LONGEST_REST_MS);
      const untilMs = nowMs + Math.min(restMs ?? doubled, LONGEST_REST_MS);
      const restsUntilMs = isKnown ? Math.max(untilMs, state.restsUntilMs) : untilMs;
      states.set(member, { failures, restsUntilMs, isTried: false });
    },

    left(member) {
      const state = states.get(member);
      if (state) state.isTried = false;
    },

    well: (member) => void states.delete(member),
  };
}
