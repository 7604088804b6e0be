// For src/operators/stop-runs.ts
import { expect, inject, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { newFence } from "../../src/domain/threads/fence.ts";
import { stopChannel } from "../../src/operators/stop-runs.ts";
import { openPlace } from "../stores/backup/places.ts";
import { sampleChannel, sampleCommit, sampleMessage, sampleRun, SLUG } from "../stores/samples.ts";

const kind = inject("stores").includes("redis") ? "redis" : "embedded";

test("a channel's runs are found on every instance, its pending calls, and no other channel's", async () => {
  const place = await openPlace(kind);
  onTestFinished(() => place.remove());
  const [store, another] = [await place.open(), await place.open()];
  onTestFinished(async () => {
    await store.close();
    await another.close();
  });
  for (const slug of [SLUG, "bot"])
    await store.putChannel(sampleChannel({ slug, publishableKey: `pk_${slug}` }));
  const commit = (uid: string, holder: string, more: object = {}) =>
    store.commit(
      sampleCommit({ opId: uid, fence: newFence(holder), uid, messages: [sampleMessage(1)], ...more }),
    );
  await commit("mine", store.processId);
  await commit("theirs", another.processId);
  await commit("gone", "process-that-died");
  const run = sampleRun("r1", {
    terminal: { type: "tool_call", tool: "cart", arguments: {}, callId: "c1" },
  });
  await commit("pending", store.processId, {
    run,
    state: "awaiting",
    holds: false,
    deadlineMs: Date.now() + 60_000,
  });
  await commit("of another channel", store.processId, { slug: "bot" });
  await commit("idle", store.processId, { state: "idle", holds: false });

  const cancelled = new Set<string>();
  const threads = {
    load: async (uid: string) => (cancelled.has(uid) ? null : store.load(uid, 0, "active")),
    cancel: async (uid: string) => void cancelled.add(uid),
  };
  const acting = { store, clock: systemClock, operator: "ada" };
  expect(await stopChannel(acting, threads, SLUG)).toBe(4);
  expect([...cancelled].toSorted()).toEqual(["gone", "mine", "pending", "theirs"]);
});
