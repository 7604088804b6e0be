import type { Clock } from "../clock.ts";
import type { InstanceStore } from "../store.ts";

/**
 * The clock of a service's threads. Its time of day is the store's, which all instances share: the deadline that one of them
 * sets is judged by another, whatever the clocks of their machines say. Durations are this process's own.
 */
export function createStoreClock(store: Pick<InstanceStore, "timeMs">, clock: Clock): Clock {
  return {
    now: () => store.timeMs?.() ?? clock.now(),
    elapsed: () => clock.elapsed(),
  };
}
