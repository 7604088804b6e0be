import { describe } from "vitest";
import { describeStore } from "./contract.ts";
import { dumpEmbedded } from "./dump-embedded.ts";
import { itEqualsTheReference } from "./equivalence.ts";
import { checkInvariants } from "./invariants.ts";
import { openForTest } from "./open-embedded.ts";

describeStore("the embedded store", openForTest, ["beats", "messages"]);

describe("the embedded store", () => {
  itEqualsTheReference(openForTest, {
    runs: 60,
    elapses: true,
    faults: async ({ dataDir }) => checkInvariants(await dumpEmbedded(dataDir)),
  });
});
