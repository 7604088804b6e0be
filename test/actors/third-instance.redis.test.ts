import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { Store } from "../../src/store.ts";
import { prepareRedis } from "../support/store-kinds.ts";
import type { TestDatabase } from "../support/store-kinds.ts";
import { createInstance, readerOf, says, textOfLines } from "./instance.ts";
import { setTime } from "./set-time.ts";

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
