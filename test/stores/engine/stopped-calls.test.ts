// For src/stores/steps/
import { describe } from "vitest";
import { stoppableMemory } from "./stoppable.ts";
import { itCompletesStoppedCalls } from "./stopped-calls.ts";

describe("a call of the store that is stopped before any of its writes, and made again, in memory", () => {
  itCompletesStoppedCalls(async () => stoppableMemory());
});
