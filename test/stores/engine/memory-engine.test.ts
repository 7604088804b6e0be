// For src/stores/engine.ts
import { systemClock } from "../../../src/clock.ts";
import { describeEngine } from "./engine-contract.ts";
import { createMemoryEngine } from "./memory-engine.ts";

describeEngine("the engine in memory", async () => {
  const engine = createMemoryEngine(systemClock);
  return { engine, elapse: async (ms) => engine.elapse(ms), clean: async () => {} };
});
