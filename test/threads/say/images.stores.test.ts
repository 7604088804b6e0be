// For src/threads/say/, src/agent/attached-images.ts
import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { imageOf, TINY_PNG } from "../../support/images.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { createInstance, readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";

const jpeg = imageOf("jpeg", 100_000);
const attachments = [{ url: TINY_PNG, name: "dot" }, { url: "https://cdn.example/a.gif" }, { url: jpeg }];

/** The store, and whose images it has been given and not been told to drop. */
function watched(store: Store): { store: Store; kept: Set<string> } {
  const kept = new Set<string>();
  return {
    kept,
    store: {
      ...store,
      async keepImages(images) {
        const isKept = await store.keepImages(images);
        if (isKept) kept.add(images.runId);
        return isKept;
      },
      async dropImages(uid, runId) {
        await store.dropImages(uid, runId);
        kept.delete(runId);
      },
    },
  };
}

describe.each(storeKinds)("images of a message, on $name", ({ prepare }) => {
  let store: Store;
  let here: Instance;
  let restart: () => Promise<void>;
  eachOnOneInstance(prepare, (one) => ({ store, here, restart } = one));

  const said = (text = "What is this?", id: string | null = null) => ({
    ...says("t1", text, id),
    attachments,
  });
  const historyOf = async () => {
    const messages = await here.threads.history("t1", { limit: 9, before: null });
    return Promise.all(
      messages.map(async (message) => message.attachments && here.threads.attachmentAddresses("t1", message)),
    );
  };
  const addresses = attachments.map(({ url }) => url);

  it("are the turn's, in the present run and in the next, and the history's", async () => {
    const stream = readerOf(await here.threads.say(said()));
    const { turn, finish } = await played(here);
    expect(turn.images?.get(turn.run.runId)).toEqual([TINY_PNG, jpeg]);
    finish();
    await stream.all;
    expect(await historyOf()).toEqual([addresses, undefined]);
    const next = readerOf(await here.threads.say(says("t1", "And its colour?")));
    const second = await played(here);
    expect([...(second.turn.images ?? [])]).toEqual([[turn.run.runId, [TINY_PNG, jpeg]]]);
    expect(second.turn.before[0]?.attachments).toEqual([
      { name: "dot", type: "image/png", chars: TINY_PNG.length },
      { url: "https://cdn.example/a.gif" },
      { type: "image/jpeg", chars: jpeg.length },
    ]);
    second.finish();
    await next.all;
  });

  it("wait with their message behind another run", async () => {
    void here.threads.say(says("t1", "First"));
    const first = await played(here);
    const waits = readerOf(await here.threads.say(said()));
    expect((await historyOf()).flat()).toEqual([undefined]);
    first.finish();
    const second = await played(here);
    expect(second.turn.images?.get(second.turn.run.runId)).toEqual([TINY_PNG, jpeg]);
    second.finish();
    await waits.all;
    expect(await historyOf()).toEqual([undefined, undefined, addresses, undefined]);
  });

  it("are there for the process that takes the run up", async () => {
    void here.threads.say(said());
    const { turn } = await played(here);
    await restart();
    const again = await played(here);
    expect(again.turn.run.runId).toBe(turn.run.runId);
    expect(again.turn.images?.get(turn.run.runId)).toEqual([TINY_PNG, jpeg]);
    again.finish();
  });

  it("are kept for nobody where their message is not stored: repeated, refused, or one too many", async () => {
    const { store: watching, kept } = watched(store);
    const there = createInstance(watching, { limits: { threadQueueMax: 0 } });
    const reply = await there.threads.say(said("Hello", "m1"));
    const stream = readerOf(reply);
    expect([...kept]).toEqual([reply.runId]);
    await there.threads.say(said("Hello", "m1"));
    await expect(there.threads.say(said("Another", "m1"))).rejects.toMatchObject({ reason: "invalid" });
    await expect(there.threads.say(said("One more"))).rejects.toMatchObject({ reason: "rate-limited" });
    expect([...kept]).toEqual([reply.runId]);
    (await played(there)).finish();
    await stream.all;
    await there.threads.drain(0);
  });

  it("stay where an outage leaves open whether their message was stored", async () => {
    const { store: watching, kept } = watched(store);
    const commit = () => Promise.reject(new StoreUnavailable("commit"));
    const there = createInstance({ ...watching, commit });
    await expect(there.threads.say(said())).rejects.toThrow(StoreUnavailable);
    expect(kept.size).toBe(1);
    await there.threads.drain(0);
  });

  it("are not read for a thread without any, nor once they are long past", async () => {
    let reads = 0;
    const keptImages: Store["keptImages"] = (uid, runId) => {
      reads += 1;
      return store.keptImages(uid, runId);
    };
    const there = createInstance({ ...store, keptImages });
    const talk = async (message: Parameters<typeof there.threads.say>[0]) => {
      const stream = readerOf(await there.threads.say(message));
      (await played(there)).finish();
      await stream.all;
      return reads;
    };
    expect(await talk(says("t1", "Hello"))).toBe(0);
    expect(await talk(said())).toBe(1);
    expect(await talk(said())).toBe(3);
    // Three and three make six: with three more they were nine.
    expect(await talk(said())).toBe(5);
    await there.threads.drain(0);
  });

  it("are told by a feed as the history has them, those of one message at a time", async () => {
    let reads = 0;
    const there = createInstance({
      ...store,
      keptImages: (...args) => {
        reads += 1;
        return store.keptImages(...args);
      },
    });
    for (let nth = 0; nth < 3; nth++) {
      const stream = readerOf(await there.threads.say(said()));
      (await played(there)).finish();
      await stream.all;
    }
    const historyReads = reads;
    const told: (string | undefined)[][] = [];
    let onTaken = () => {};
    const feed = await there.threads.openFeed("t1", "");
    feed.read({
      write(lines) {
        for (const line of lines) {
          const { attachments } = line.type === "message" ? line.message : {};
          if (attachments) told.push(attachments.map(({ url }) => url));
        }
      },
      onDrained: (callback) => (onTaken = callback),
      end: () => {},
    });
    for (const nth of [1, 2, 3]) {
      onTaken();
      await expect.poll(() => told.length, { timeout: 20_000 }).toBe(nth);
      expect(reads - historyReads).toBe(nth);
    }
    expect(told).toEqual([addresses, addresses, addresses]);
    feed.leave();
    await there.threads.drain(0);
  });
});

async function played({ agent }: Instance) {
  const one = await agent.turn();
  return { turn: one.turn, finish: () => one.finish() };
}
