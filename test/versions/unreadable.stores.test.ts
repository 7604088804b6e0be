// For src/store/unreadable.ts, src/charts/host.ts, src/stores/
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Call } from "../../machines/run.ts";
import { threadHost, visitorHost } from "../../src/charts/charts.ts";
import { createVisitors } from "../../src/visitors/visitors.ts";
import { systemClock } from "../../src/clock.ts";
import { readVisitorToken } from "../../src/domain/people/visitor-token.ts";
import { NewerRecord } from "../../src/store.ts";
import { answers, createInstance, readerOf, says } from "../threads/instance.ts";
import type { Instance } from "../threads/instance.ts";
import { plantableStores } from "./plant.ts";
import type { Plant, PlantableStore } from "./plant.ts";

const HALF = '{"value":"idl';
const SET_ASIDE = "set aside what could not be read of a thread: it goes on without it";

const cart: Call = {
  callId: "c1",
  kind: "page",
  tool: "cart",
  arguments: {},
  progress: "Looking",
  repeatable: false,
};

/** The thread's chart, as a version of far from now would write it. */
function newerSnapshot(): string {
  const { value, context } = JSON.parse(threadHost.freeze(threadHost.initial())) as {
    value: unknown;
    context: object;
  };
  return JSON.stringify({ value, context: { ...context, version: 99 } });
}

describe.each(plantableStores)("what cannot be read, on $name", ({ prepare }) => {
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

  async function open(): Promise<void> {
    here = createInstance(await place.open());
  }
  async function close(): Promise<void> {
    await here.threads.drain(0);
    await here.store.close();
  }
  /** The process ends, another text is written into its store, and the next one starts. */
  async function restartWith(...plants: Plant[]): Promise<void> {
    await close();
    for (const plant of plants) await place.plant(plant);
    await open();
    await here.threads.start();
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

  /** In each state: two items of history before it. */
  async function reach(state: "idle" | "awaiting" | "running"): Promise<void> {
    await talk("One", "First");
    if (state === "idle") return;
    const reader = readerOf(await here.threads.say(says("t1", "Two")));
    const turn = await here.agent.turn();
    if (state === "running") return;
    turn.call(cart);
    expect((await reader.all).at(-1)).toMatchObject({ type: "tool_call" });
  }

  const part = (part: "snapshot" | "run" | "state" | "catalog" | "historySummary", text = HALF): Plant => ({
    part,
    uid: "t1",
    text,
  });

  test.each(["snapshot", "run", "state", "catalog", "historySummary"] as const)(
    "idle, %s: the next message is answered",
    async (at) => {
      await here.threads.setCatalog("t1", "shop", [{ name: "cart" }]);
      await reach("idle");
      const summary = { text: "Hi", upTo: 1, atMs: 1, model: "p/m", usage: null };
      await here.store.keepHistorySummary({ uid: "t1", slug: "shop", summary, after: 0 });
      await restartWith(part(at));
      // The last run of a thread at rest is read by nobody else.
      if (at === "run") await here.threads.follow("t1");
      await talk("Three", "Third");
      await talk("Four", "Fourth");
      expect(await history()).toEqual(["One", "First", "Three", "Third", "Four", "Fourth"]);
      await close();
      expect(Object.keys(await place.aside("t1"))).toEqual([`${at} `]);
      expect(here.complaints).toEqual([SET_ASIDE]);
    },
  );

  test("a summary that is not there is noted, and the next one begins anew", async () => {
    await reach("idle");
    const summary = { text: "Hi", upTo: 1, atMs: 1, model: "p/m", usage: null };
    const keep = (after: number) =>
      here.store.keepHistorySummary({ uid: "t1", slug: "shop", summary, after });
    expect(await keep(0)).toBe(true);
    await restartWith(part("historySummary", ""));
    await talk("Three", "Third");
    expect(await here.store.historySummary("t1")).toBeNull();
    expect(await keep(0)).toBe(true);
    expect(here.complaints).toEqual([SET_ASIDE]);
  });

  test.each(["snapshot", "run"] as const)(
    "awaiting, %s: its run has failed, and the next one is answered",
    async (at) => {
      await reach("awaiting");
      await restartWith(part(at));
      await expect(here.threads.answer(answers("t1", "c1"))).rejects.toMatchObject({ reason: "conflict" });
      const again = await here.threads.follow("t1");
      expect(again && (await readerOf(again).all).at(-1)).toMatchObject({ type: "error" });
      await talk("Three", "Third");
      const [one, first, two, lost, ...rest] = await history();
      expect([one, first, two, ...rest]).toEqual(["One", "First", "Two", "Three", "Third"]);
      expect(lost).toBe("Something went wrong on the server");
      expect(here.complaints).toEqual([SET_ASIDE]);
      expect(await here.store.due(Number.MAX_SAFE_INTEGER, 10)).toEqual([]);
    },
  );

  test.each(["snapshot", "run"] as const)(
    "running, %s: its stream ends, and what waits is answered",
    async (at) => {
      await reach("running");
      await here.threads.say(says("t1", "Three"));
      await restartWith(part(at));
      const turn = await here.agent.turn();
      turn.write("Third");
      turn.finish();
      await expect
        .poll(history)
        .toEqual(["One", "First", "Two", "Something went wrong on the server", "Three", "Third"]);
      expect(here.complaints).toEqual([SET_ASIDE]);
    },
  );

  test("running, state: the run goes on", async () => {
    await reach("running");
    await restartWith(part("state", "dreaming"));
    const turn = await here.agent.turn();
    turn.write("Second");
    turn.finish();
    await expect.poll(history).toEqual(["One", "First", "Two", "Second"]);
  });

  test("a message: the others stay, with their ids", async () => {
    await reach("idle");
    await restartWith({ part: "message", uid: "t1", text: HALF });
    expect(await history()).toEqual(["First"]);
    await talk("Two", "Second");
    const items = await here.threads.history("t1", { limit: 100, before: null });
    expect(items.map(({ id, content }) => [id, content])).toEqual([
      ["2", "First"],
      ["3", "Two"],
      ["4", "Second"],
    ]);
    await close();
    expect(Object.keys(await place.aside("t1"))).toEqual(["message 1"]);
    expect(here.complaints).toEqual([SET_ASIDE]);
  });

  test.each([0, 1])("message %s of those that wait: the other one is answered", async (nth) => {
    await reach("running");
    await here.threads.say(says("t1", "Three"));
    await here.threads.say(says("t1", "Four"));
    await restartWith({ part: "waiting", uid: "t1", nth, text: "{}" });
    const [lost = "", other = ""] = nth === 0 ? ["Three", "Four"] : ["Four", "Three"];
    const finishAll = async () => {
      for (;;) (await here.agent.turn()).finish();
    };
    void finishAll();
    await expect.poll(history, { timeout: 60_000 }).toContain(other);
    await expect.poll(async () => (await here.store.load("t1", 1))?.fence, { timeout: 60_000 }).toBe(null);
    expect(await history()).not.toContain(lost);
    await close();
    expect(Object.keys(await place.aside("t1"))).toEqual([expect.stringMatching(/^waiting /)]);
  });

  test("of a newer version: left as it is, and NewerRecord for whoever asks", async () => {
    await reach("awaiting");
    await restartWith(part("snapshot", newerSnapshot()));
    await close();
    const before = await place.stored("t1");
    await open();
    await here.threads.start();
    await expect(here.threads.say(says("t1", "Three"))).rejects.toThrow(NewerRecord);
    await expect(here.threads.answer(answers("t1", "c1"))).rejects.toThrow(NewerRecord);
    await expect(here.threads.cancel("t1")).rejects.toThrow(NewerRecord);
    await expect(here.threads.follow("t1")).rejects.toThrow(NewerRecord);
    expect(await history()).toEqual(["One", "First", "Two"]);
    await close();
    expect(await place.stored("t1")).toEqual(before);
    await open();
  });

  test("of a newer version, held by a process that is gone: nobody of this one takes it, and readers are refused", async () => {
    await reach("running");
    await restartWith(part("snapshot", newerSnapshot()));
    await expect.poll(() => here.complaints).toEqual(["left a thread alone"]);
    await expect(here.threads.follow("t1")).rejects.toThrow(NewerRecord);
    await expect(here.threads.say(says("t1", "Three"))).rejects.toThrow(NewerRecord);
    expect(here.agent.turns).toBe(0);
  });

  test("a hundred calls of a newer version that expired do not keep the others from expiring", async () => {
    let now = systemClock.now();
    const clock = { now: () => now, elapsed: () => systemClock.elapsed() };
    await close();
    const uids = Array.from({ length: 130 }, (_, nth) => `t${String(nth).padStart(3, "0")}`);
    const store = await place.open();
    const first = createInstance(store, { clock });
    for (const uid of uids) {
      const reader = readerOf(await first.threads.say(says(uid, "Hello")));
      (await first.agent.turn()).call(cart);
      await reader.all;
      now += 1;
    }
    await first.threads.drain(0);
    await store.close();
    for (const uid of uids.slice(0, -1)) await place.plant({ part: "snapshot", uid, text: newerSnapshot() });

    now += 120_000;
    here = createInstance(await place.open(), { clock });
    await here.threads.start();
    const last = uids.at(-1) ?? "";
    await expect.poll(async () => (await here.store.load(last, 1))?.state, { timeout: 60_000 }).toBe("idle");
    expect((await here.store.load(uids[0] ?? "", 1))?.state).toBe("awaiting");
  });

  describe("a visitor token", () => {
    async function minted() {
      const visitors = createVisitors({ store: here.store, clock: systemClock, ttlMs: 60_000 });
      const { visitorToken } = await visitors.mint("shop");
      const claim = readVisitorToken(visitorToken);
      if (!claim) throw new Error("Cannot read the token");
      return { visitorToken, claim };
    }
    const channel = {
      slug: "shop",
      kind: "web",
      publishableKey: null,
      secretKeyHash: null,
      allowedOrigins: [],
      enabled: true,
      accessMode: "open",
      agent: {},
    } as const;

    test("works on, bound to the same account as before", async () => {
      await here.store.putChannel({ ...channel, allowedOrigins: [] });
      const { visitorToken, claim } = await minted();
      const identify = (externalId: string) => {
        const visitors = createVisitors({ store: here.store, clock: systemClock, ttlMs: 60_000 });
        return visitors.identify({ slug: "shop", visitorToken, externalId });
      };
      await restartWith({ part: "token", ...claim, text: HALF });
      const visitors = createVisitors({ store: here.store, clock: systemClock, ttlMs: 60_000 });
      expect(await visitors.admit(claim, null)).not.toBeNull();
      await identify("kim");
      await restartWith({ part: "token", ...claim, text: HALF });
      await expect(identify("lee")).rejects.toMatchObject({ reason: "conflict" });
      expect(await identify("kim")).toMatchObject({ merged: false });
      const read = await here.store.readIdentity("shop", claim.tokenHash, "kim");
      expect(visitorHost.thaw(read.visitor?.snapshot ?? "").context).toMatchObject({ externalId: "kim" });
    });

    test("of a newer version is left as it is", async () => {
      await here.store.putChannel({ ...channel, allowedOrigins: [] });
      const { claim } = await minted();
      const text = JSON.stringify({ value: "valid", context: { version: 99 } });
      await restartWith({ part: "token", ...claim, text });
      const visitors = createVisitors({ store: here.store, clock: systemClock, ttlMs: 60_000 });
      await expect(visitors.admit(claim, null)).rejects.toThrow(NewerRecord);
      const read = await here.store.readIdentity("shop", claim.tokenHash, "kim");
      expect(read.visitor?.snapshot).toBe(text);
    });
  });
});
