// For src/start/processes/
import { afterAll, describe } from "vitest";
import { describeBadInput } from "./bad-input.ts";
import { reachProcesses } from "./clients/reached.ts";
import type { Reach, Reached } from "./clients/reached.ts";
import { describeStrangers } from "./strangers.ts";
import { describeStreams } from "./streams.ts";

/**
 * With `PROCESSES_TESTS=full` alone: they ask for a machine that has a core to spare. A process that gets none for a second
 * and a half is taken for dead, and what it streams is interrupted, as it should be, and not as these suites expect it.
 */
const isFull = process.env["PROCESSES_TESTS"] === "full";

describe.skipIf(!isFull)(
  "two processes behind one port (asks for cores to spare: PROCESSES_TESTS=full)",
  () => {
    const opened = new Map<string, Promise<Reached>>();
    /** One service for all suites on a listener. */
    const reach: Reach = async (listener) => {
      const reached = opened.get(listener) ?? reachProcesses(listener);
      opened.set(listener, reached);
      return { ...(await reached), close: async () => {} };
    };
    afterAll(async () => {
      for (const reached of opened.values()) await (await reached).close();
    });

    describeBadInput(reach);
    describeStreams(reach);
    describeStrangers(reach);
  },
);
