// For src/threads/say/cancel.ts
import { expect, test } from "vitest";
import type { Store } from "../../../src/store.ts";
import { createReference } from "../../stores/twin/reference.ts";
import { createInstance, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { setTime } from "../set-time.ts";

/** Instances on one store, each on a time of its own; no message between them arrives. */
function instanceOn(store: Store, processId: string): Instance & { cancel: (uid: string) => Promise<void> } {
  const time = setTime();
  const instance = createInstance({ ...store, processId, send() {}, onMessage() {} }, time);
  return {
    ...instance,
    async cancel(uid) {
      let isOver = false;
      const cancelling = instance.threads.cancel(uid).finally(() => (isOver = true));
      while (!isOver) {
        time.pass(500);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await cancelling;
    },
  };
}

test("a cancel ends the run that goes on elsewhere, where its process has lost the thread without hearing of it", async () => {
  const store = createReference(setTime().clock);
  const [here, there] = [instanceOn(store, "A"), instanceOn(store, "B")];
  await here.threads.say(says("t1", "One"));
  await here.agent.turn();
  await there.cancel("t1");
  await there.threads.say(says("t1", "Two"));
  await there.agent.turn();
  expect((await store.load("t1", 1))?.run?.outcome).toBeNull();

  expect(here.threads.held()).toBe(1);
  await here.cancel("t1");
  expect(await store.load("t1", 1)).toMatchObject({ state: "idle", run: { outcome: "cancelled" } });
  expect((await store.history("t1", { limit: 10, before: null })).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
});

test("a cancel ends the run that a store which was set back names, though this process is ahead of it", async () => {
  const store = createReference(setTime().clock);
  let isSetBack = false;
  let before: Awaited<ReturnType<Store["load"]>> = null;
  const looks: string[] = [];
  const here = instanceOn(
    {
      ...store,
      async load(...asked) {
        looks.push("load");
        // After some looks the thread is taken over from what the store says: here it is as if it were back.
        if (looks.length > 4) isSetBack = false;
        return isSetBack ? before : store.load(...asked);
      },
    },
    "A",
  );
  await here.threads.say(says("t1", "One"));
  const turn = await here.agent.turn();
  before = await store.load("t1", 1);
  const second = await here.threads.say(says("t1", "Two"));
  turn.finish();
  await here.agent.turn();
  [isSetBack, looks.length] = [true, 0];

  await here.cancel("t1");
  expect(looks.length).toBeGreaterThan(4);
  expect(await store.load("t1", 1)).toMatchObject({ run: { runId: second.runId, outcome: null } });
});
