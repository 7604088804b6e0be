import { canonicalKey } from "./canonical-key.ts";
import type { Model } from "./explore.ts";
import { faultSteps } from "./faults.ts";
import { isAtRest, ruleBroken } from "./invariants.ts";
import { livenessSteps } from "./liveness.ts";
import type { World } from "./rules.ts";
import { initialState } from "./state.ts";
import type { State } from "./state.ts";
import { threadSteps } from "./threads.ts";

/**
 * Who holds a thread: the protocol of src/threads/ and the store, as a model that is explored whole.
 *
 * What the store does in one atomic step is one step here (store-steps.ts). What a process reads, decides and sends is
 * one step too, as nobody else sees anything between the reading and the sending; how long the request then takes is
 * left open, so it is decided on what may be long past when it arrives.
 */
export function ownership(world: World): Model<State> {
  return {
    initial: initialState(world.bounds),
    next: (state) => [
      ...threadSteps(state, world),
      ...livenessSteps(state, world),
      ...faultSteps(state, world),
    ],
    key: (state) => canonicalKey(state, world),
    broken: (state) => ruleBroken(state, world),
    isAtRest,
  };
}
