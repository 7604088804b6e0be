// For src/store.ts, src/store/, src/stores/steps/, src/stores/engine.ts
import { systemClock } from "../../../src/clock.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import { describeStore } from "../contract/contract.ts";
import { createMemoryEngine } from "./memory-engine.ts";

/** The steps of the store over the plainest engine. */
describeStore(
  "the store in memory",
  async () => {
    const engine = createMemoryEngine(systemClock);
    const open = () => storeOn(engine.handle(), { clock: systemClock, log: { warn() {} } });
    return {
      store: await open(),
      reopen: open,
      another: open,
      elapse: async (ms) => engine.elapse(ms),
      clean: async () => {},
    };
  },
  {},
);
