import { systemClock } from "../../clock.ts";
import { COMMAND_LINE } from "../../domain/people/operator.ts";
import type { Acting } from "../../operators/acting.ts";
import type { Store } from "../../store.ts";

/** Commands act under one shared name: only the machine knows which person ran them. */
export function asCommandLine(store: Store): Acting<Store> {
  return { store, clock: systemClock, operator: COMMAND_LINE };
}
