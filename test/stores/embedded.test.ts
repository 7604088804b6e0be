import { describe, expect, it, onTestFinished } from "vitest";
import { admit, mint } from "./contract-users.ts";
import { describeStore } from "./contract.ts";
import { dumpEmbedded } from "./dump-store.ts";
import { itEqualsTheReference } from "./equivalence.ts";
import { checkInvariants } from "./invariants.ts";
import { openForTest } from "./open-embedded.ts";
import { sampleChannel, sampleCommit, sampleRun, sampleWaiting } from "./samples.ts";

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

  it("a waiting message that was started is stored in the queue no more", async () => {
    const { store, dataDir, clean } = await openForTest();
    onTestFinished(clean);
    const fence = `${store.processId}:a`;
    await store.commit(sampleCommit({ opId: "1", fence }));
    await store.wait("t1", sampleWaiting("w1"), 8);
    await store.wait("t1", sampleWaiting("w2"), 8);
    const starts = { run: sampleRun("w1"), startsWaiting: "w1" };
    await store.commit(sampleCommit({ opId: "2", fence, claims: false, rev: 1, ...starts }));
    const dump = await dumpEmbedded(dataDir);
    expect(dump.threads[0]?.waiting).toEqual(["w2"]);
    expect(checkInvariants(dump)).toEqual([]);
  });
});
