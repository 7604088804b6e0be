import { systemClock } from "../clock.ts";
import { COMMAND_LINE } from "../domain/operator.ts";
import type { Acting } from "../operators/acting.ts";
import type { Store } from "../store.ts";

/** Whoever has the command line acts as nobody in particular: the machine knows who it was. */
export function asCommandLine(store: Store): Acting<Store> {
  return { store, clock: systemClock, operator: COMMAND_LINE };
}
