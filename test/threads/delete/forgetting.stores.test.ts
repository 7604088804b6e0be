// For src/threads/delete/, src/stores/steps/deletions/, src/operators/forgetting.ts
import { describe, expect, it } from "vitest";
import type { FeedLine } from "../../../src/threads/feeds/feed-lines.ts";
import { forget as forgetSilently } from "../../../src/threads/delete/forget.ts";
import { systemClock } from "../../../src/clock.ts";
import { TINY_PNG } from "../../support/images.ts";
import { storeKinds } from "../../support/stores/store-kinds.ts";
import { gatedStore } from "../hold/gated-store.ts";
import { answers, createInstance, readerOf, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { eachOnOneInstance } from "../on-instances.ts";
import { pageCall, serverCall } from "../scripted-agent.ts";

const WITHIN = { timeout: 30_000, interval: 20 };
const DELETED = { type: "error", code: "deleted" };

describe.each(storeKinds)("a deleted thread, on $name", ({ prepare }) => {
  let here: Instance;
  /** Ahead of the machine's clock by so much. */
  let aheadMs = 0;
  const clock = { now: () => systemClock.now() + aheadMs, elapsed: () => systemClock.elapsed() };
  eachOnOneInstance(
    prepare,
    (one) => {
      here = one.here;
      aheadMs = 0;
    },
    { clock },
  );

  const say = async (text: string) => readerOf(await here.threads.say(says("t1", text)));
  const forget = () => here.threads.forgetting.thread("shop", "t1");

  /** The visitor u1, whose thread t1 is. */
  async function makeVisitor(): Promise<void> {
    const own = { slug: "shop", userId: "u1", atMs: clock.now() };
    await here.store.mintVisitor({ ...own, tokenHash: "h1", snapshot: "token", ttlMs: 600_000 });
    await here.store.addThread({ ...own, threadId: "t1", uid: "t1" });
  }

  async function readFeed() {
    const lines: FeedLine[] = [];
    const feed = await here.threads.openFeed("t1", null);
    const ended = new Promise<void>((end) => {
      feed.read({
        write: (some) => void lines.push(...some.filter(({ type }) => type !== "ping")),
        onDrained: (callback) => void setImmediate(callback),
        end,
      });
    });
    return { lines, ended };
  }

  /** Nothing that is kept tells of it. */
  async function expectGone(): Promise<void> {
    const { store } = here;
    expect(await store.load("t1", 99)).toBeNull();
    expect(await store.history("t1", { limit: 99, before: null })).toEqual([]);
    expect(await store.runs("t1", 99)).toEqual([]);
    expect(await store.waitingRuns("t1")).toEqual([]);
    expect(await store.heldBy(store.processId)).toEqual([]);
    expect(await store.due(Number.MAX_SAFE_INTEGER, 9)).toEqual([]);
  }

  it("ends the stream of a model that still writes, and whatever it writes then is nowhere", async () => {
    const reader = await say("Hello");
    const turn = await here.agent.turn();
    turn.write("Let me");
    await forget();
    expect((await reader.all).at(-1)).toMatchObject(DELETED);
    await expect.poll(() => turn.signal.aborted, WITHIN).toBe(true);
    turn.write(" see");
    turn.finish();
    expect(here.threads.held()).toBe(0);
    await expectGone();
    expect(here.complaints).toEqual([]);
  });

  it("ends the streams of messages that wait in the queue", async () => {
    const first = await say("Hello");
    await here.agent.turn();
    const second = await say("And you?");
    await forget();
    expect((await first.all).at(-1)).toMatchObject(DELETED);
    expect((await second.all).at(-1)).toMatchObject(DELETED);
    expect(here.agent.turns).toBe(1);
    await expectGone();
  });

  it("takes no result of a tool that was on its way", async () => {
    const reader = await say("Look it up");
    (await here.agent.turn()).call(serverCall("c1"));
    const tool = await here.agent.toolCall();
    await forget();
    tool.answer("42");
    expect((await reader.all).at(-1)).toMatchObject(DELETED);
    expect(here.agent.turns).toBe(1);
    await expectGone();
  });

  it("takes no result of a page's call", async () => {
    const reader = await say("Buy");
    (await here.agent.turn()).call(pageCall("c1"));
    await reader.all;
    const loading = here.threads.load("t1", "last-in-parts");
    await loading;
    await forget();
    await expect(here.threads.answer(answers("t1", "c1"), loading)).rejects.toMatchObject({
      reason: "not-found",
    });
    await expect(here.threads.answer(answers("t1", "c1"))).rejects.toBeInstanceOf(Error);
    await expectGone();
  });

  it("takes no message, image, catalog or act of a person that was on its way", async () => {
    const reader = await say("Hello");
    (await here.agent.turn()).finish();
    await reader.all;
    const loading = here.threads.load("t1", "active");
    await loading;
    await forget();
    const gone = { reason: "not-found" };
    await expect(here.threads.say(says("t1", "Again"), loading)).rejects.toMatchObject(gone);
    await expect(here.threads.say(says("t1", "Again"))).rejects.toMatchObject(gone);
    const withImage = { ...says("t1", "Look"), attachments: [{ url: TINY_PNG }] };
    await expect(here.threads.say(withImage)).rejects.toMatchObject(gone);
    await expect(here.threads.setCatalog("t1", "shop", [])).rejects.toMatchObject(gone);
    const take = { uid: "t1", slug: "shop", name: "ann", epoch: 0 };
    await expect(here.threads.people.take(take)).rejects.toMatchObject(gone);
    await here.threads.cancel("t1");
    expect(await here.threads.follow("t1")).toBeNull();
    await expectGone();
  });

  it("tells its feeds, which end", async () => {
    const { lines, ended } = await readFeed();
    const reader = await say("Hello");
    (await here.agent.turn()).finish();
    await reader.all;
    await forget();
    await ended;
    expect(lines.at(-1)).toEqual({ type: "deleted" });
    expect(here.threads.feeds()).toBe(0);
  });

  it("wins over a save that was under way, and over its repeat", async () => {
    const gated = gatedStore(here.store);
    const other = createInstance(gated.store, { clock });
    const reader = readerOf(await other.threads.say(says("t1", "Hello")));
    const turn = await other.agent.turn();
    const gate = gated.holdNext();
    turn.finish();
    await gate.reached;
    await here.threads.forgetting.thread("shop", "t1");
    gate.open();
    expect((await reader.all).at(-1)).toMatchObject(DELETED);
    expect(other.threads.held()).toBe(0);
    await expectGone();
    await other.threads.drain(0);
  });

  it.each(["thread", "user"] as const)(
    "ends here with the next look, where another process deleted the %s without a word",
    async (kind) => {
      await makeVisitor();
      const reader = await say("Hello");
      await here.agent.turn();
      const feed = await readFeed();
      await forgetSilently(here.store, {
        kind,
        slug: "shop",
        id: kind === "user" ? "u1" : "t1",
        atMs: clock.now(),
      });
      await here.threads.carryOutDeletions();
      expect((await reader.all).at(-1)).toMatchObject(DELETED);
      await feed.ended;
      expect(feed.lines.at(-1)).toEqual({ type: "deleted" });
    },
  );

  it("is left to whoever looks where the one who began to delete it is gone", async () => {
    await makeVisitor();
    const reader = await say("Hello");
    await here.agent.turn();
    await here.store.planDeletion({ kind: "user", slug: "shop", id: "u1", atMs: clock.now() });
    await here.threads.carryOutDeletions();
    expect(await here.store.findUser("shop", "u1")).not.toBeNull();
    aheadMs = 40_000;
    await here.threads.carryOutDeletions();
    expect((await reader.all).at(-1)).toMatchObject(DELETED);
    expect(await here.store.findUser("shop", "u1")).toBeNull();
    expect((await here.store.readIdentity("shop", "h1", "kim")).visitor).toBeNull();
    expect(await here.store.plannedDeletions(9)).toEqual([]);
    await expectGone();
  });
});
