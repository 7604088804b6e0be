// For src/stores/content-keys/
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../machines/run.ts";
import { LockedRecord } from "../../src/store.ts";
import type { ContentKeyStore } from "../../src/store.ts";
import { answers, createInstance, readerOf, says } from "../threads/instance.ts";
import type { Instance } from "../threads/instance.ts";
import { encryptedForAnybody, keysInMemory, testWrapping } from "../support/stores/content-keys.ts";
import { plantableStores } from "./plant.ts";
import type { PlantableStore, ReadPart } from "./plant.ts";

const SET_ASIDE = "set aside what could not be read of a thread: it goes on without it";

const cart: Call = {
  callId: "c1",
  kind: "page",
  tool: "cart",
  arguments: { secret: "shoes" },
  progress: "Looking",
  repeatable: false,
};

/** One character of each sealed text is another one. */
const damaged = (stored: string): string =>
  stored.replaceAll(/enc:v1:[^":\\]+:[^"\\]+/g, (sealed) => {
    const at = sealed.length - 30;
    return `${sealed.slice(0, at)}${sealed[at] === "A" ? "B" : "A"}${sealed.slice(at + 1)}`;
  });

describe.each(plantableStores)("encrypted contents that are damaged, on $name", ({ prepare }) => {
  let place: PlantableStore;
  let here: Instance;

  beforeEach(async () => {
    place = await prepare();
    await open();
  });
  afterEach(async () => {
    await close();
    await place.remove();
  });

  async function open(keys?: ContentKeyStore): Promise<void> {
    here = createInstance(await place.open(encryptedForAnybody(keys)));
  }
  async function close(): Promise<void> {
    await here.threads.drain(0);
    await here.store.close();
  }
  /** The process ends, parts of its thread are damaged, and the next one starts. Answers what is stored now. */
  async function restartDamaged(...parts: ReadPart[]): Promise<Record<string, string>> {
    await close();
    const texts: Record<string, string> = {};
    for (const part of parts) {
      const before = await place.read(part, "t1");
      const text = damaged(before);
      expect(text).not.toBe(before);
      await place.plant(part === "waiting" ? { part, uid: "t1", nth: 0, text } : { part, uid: "t1", text });
      texts[part] = text;
    }
    await open();
    await here.threads.start();
    return texts;
  }

  const history = async () =>
    (await here.threads.history("t1", { limit: 100, before: null })).map(({ content }) => content);

  async function talk(text: string, answer: string): Promise<void> {
    const reader = readerOf(await here.threads.say(says("t1", text)));
    const turn = await here.agent.turn();
    turn.write(answer);
    turn.finish();
    expect((await reader.all).at(-1)).toMatchObject({ type: "done" });
  }

  async function callThePage(): Promise<void> {
    const reader = readerOf(await here.threads.say(says("t1", "Two")));
    (await here.agent.turn()).call(cart);
    expect((await reader.all).at(-1)).toMatchObject({ type: "tool_call" });
  }

  test("a message: the others are shown, and the next one is answered", async () => {
    await talk("One", "First");
    const { message } = await restartDamaged("message");
    expect(await history()).toEqual(["First"]);
    await talk("Two", "Second");
    expect(await history()).toEqual(["First", "Two", "Second"]);
    expect(here.complaints).toEqual([SET_ASIDE]);
    await close();
    expect(await place.aside("t1")).toEqual({ "message 1": message });
  });

  test("a message, met by the next one first: that is answered without it", async () => {
    await talk("One", "First");
    await restartDamaged("message");
    await talk("Two", "Second");
    expect(await history()).toEqual(["First", "Two", "Second"]);
  });

  test.each(["snapshot", "run"] as const)(
    "%s, while a call is pending: its run has failed, and the next one is answered",
    async (part) => {
      await talk("One", "First");
      await callThePage();
      const texts = await restartDamaged(part);
      await expect(here.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      await talk("Three", "Third");
      expect(await history()).toEqual(["One", "First", "Two", expect.any(String), "Three", "Third"]);
      await close();
      expect(await place.aside("t1")).toEqual({ [`${part} `]: texts[part] });
    },
  );

  test("a message that waits: the run before it ends, and what is said next is answered", async () => {
    await here.threads.say(says("t1", "One"));
    await here.agent.turn();
    await here.threads.say(says("t1", "Two"));
    const { waiting } = await restartDamaged("waiting");
    const turn = await here.agent.turn();
    turn.write("First");
    turn.finish();
    await expect.poll(history).toEqual(["One", "First"]);
    await talk("Three", "Third");
    expect(await history()).toEqual(["One", "First", "Three", "Third"]);
    await close();
    expect(Object.values(await place.aside("t1"))).toEqual([waiting]);
  });

  test("another key in the place of a user's: callers are refused, and everything is left as it is", async () => {
    await talk("One", "First");
    await callThePage();
    await close();
    const before = await place.stored("t1");
    const others = keysInMemory();
    const keyId = "shop~u1";
    await others.add({ slug: "shop", userId: "u1", keyId, wrapped: testWrapping().make(keyId).wrapped });
    await open(others);
    await expect(history()).rejects.toThrow(LockedRecord);
    await expect(history()).rejects.toThrow("nothing of the thread opens by its key");
    await expect(here.threads.say(says("t1", "Three"))).rejects.toThrow(LockedRecord);
    await expect(here.threads.answer(answers("t1", "c1"))).rejects.toThrow(LockedRecord);
    await close();
    expect(await place.stored("t1")).toEqual(before);
    expect(await place.aside("t1")).toEqual({});
    await open();
    const reader = readerOf(await here.threads.answer(answers("t1", "c1")));
    const turn = await here.agent.turn();
    turn.write("Second");
    turn.finish();
    expect((await reader.all).at(-1)).toMatchObject({ type: "done" });
    expect(await history()).toEqual(["One", "First", "Two", "Second"]);
  });
});
