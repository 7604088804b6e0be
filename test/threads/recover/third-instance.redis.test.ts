// For src/threads/recover/
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../../src/store.ts";
import { prepareRedis } from "../../support/stores/store-kinds.ts";
import type { TestDatabase } from "../../support/stores/store-kinds.ts";
import { createInstance, readerOf, says, textOfLines } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { pageCall } from "../scripted-agent.ts";
import { setTime } from "../set-time.ts";

let database: TestDatabase;
const stores: Store[] = [];

beforeAll(async () => {
  database = await prepareRedis();
});

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await database.clear();
});

afterAll(() => database.remove());

async function openStore(): Promise<Store> {
  const store = await database.open();
  stores.push(store);
  return store;
}

it("P4: a follower on a third instance never shows the words of two holders as one", async () => {
  const ownerStore = await openStore();
  const owner = createInstance(ownerStore);
  const heir = createInstance(await openStore());
  // Its looks into the store happen when the test says so.
  const time = setTime();
  const third = createInstance(await openStore(), time);
  for (const { threads } of [owner, heir, third]) await threads.start();

  await owner.threads.say(says("t1", "Hello"));
  (await owner.agent.turn()).write("It is red, and it");
  const shown = readerOf((await third.threads.follow("t1"))!);
  await expect.poll(() => textOfLines(shown.lines)).toBe("It is red, and it");

  await ownerStore.close();
  const again = await heir.agent.turn();
  again.write("The mug is blue, and costs ten");
  again.finish();
  await expect.poll(() => heir.threads.held()).toBe(0);

  time.pass(1_000);
  const lines = await shown.all;
  expect(textOfLines(lines)).toBe("It is red, and it");
  expect(lines.at(-1)).toMatchObject({ type: "error", code: "interrupted" });
  await Promise.all([heir.threads.drain(0), third.threads.drain(0)]);
});

describe("F4: a run whose process is gone, and is not yet found silent", () => {
  const stopped: [string, (instance: Instance) => Promise<unknown>, string][] = [
    ["is cancelled", ({ threads }) => threads.cancel("t1"), "idle"],
    [
      "is handed to a person",
      ({ threads }) => threads.people.ask({ uid: "t1", slug: "shop", by: { visitor: "u1" }, reason: null }),
      "waiting_for_person",
    ],
    [
      "is taken over by a person",
      ({ threads }) => threads.people.take({ uid: "t1", slug: "shop", name: "Ada", epoch: 0 }),
      "with_person",
    ],
  ];

  it.each(stopped)(
    "%s through another one: it ends with what was saved, and no model is asked",
    async (_, stop, state) => {
      const ownerStore = await openStore();
      const owner = createInstance(ownerStore);
      const others = [createInstance(await openStore()), createInstance(await openStore())] as const;
      for (const { threads } of [owner, ...others]) await threads.start();
      await owner.threads.say(says("t1", "Hello"));
      const first = await owner.agent.turn();
      first.write("One moment. ");
      first.call({ ...pageCall("c1"), kind: "server" });
      (await owner.agent.toolCall()).answer("Noon");
      (await owner.agent.turn()).write("It is no");
      await ownerStore.close();

      await stop(others[0]);
      expect(await others[0].store.load("t1", 1_000)).toMatchObject({ state, fence: null });
      expect(others.map(({ agent }) => agent.turns)).toEqual([0, 0]);
      const history = await others[0].store.history("t1", { limit: 10, before: null });
      expect(history.map(({ content }) => content)).toEqual(["Hello", "One moment. "]);
      await Promise.all(others.map(({ threads }) => threads.drain(0)));
    },
  );
});
