// For src/store/, src/stores/embedded.ts, src/stores/engines/lmdb/, src/stores/
import { describe, expect, it, onTestFinished } from "vitest";
import { describeStore } from "../contract/contract.ts";
import { dumpEmbedded } from "../dump-store.ts";
import { itEqualsTheReference } from "../twin/equivalence.ts";
import { checkInvariants } from "../twin/invariants.ts";
import { openForTest } from "./open-embedded.ts";
import { sampleChannel } from "../samples.ts";
import { admit, mint } from "../users.ts";

describeStore("the embedded store", openForTest, { lacks: ["beats"] });

describe("the embedded store", () => {
  itEqualsTheReference(openForTest, {
    runs: 60,
    elapses: true,
    faults: async ({ dataDir }) => checkInvariants(await dumpEmbedded(dataDir)),
  });

  it("P16: a token lives to the end of its lifetime, and not a millisecond longer", async () => {
    const { store, elapse, clean } = await openForTest();
    onTestFinished(clean);
    await store.putChannel(sampleChannel());
    await mint(store, "h1", "u1", 1_000, 500);
    await elapse(499);
    expect(await admit(store, "h1", null, 500)).not.toBeNull();
    await elapse(500);
    expect(await admit(store, "h1", null, 500)).toBeNull();
  });
});
