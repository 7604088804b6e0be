// For src/threads/feeds/
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { Feed } from "../../../src/threads/feeds/feed.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { systemClock } from "../../../src/clock.ts";
import { createReference } from "../../stores/twin/reference.ts";
import { randomRuns } from "../../support/lengths.ts";
import { createInstance, says } from "../instance.ts";
import type { Instance } from "../instance.ts";
import { pageCall } from "../scripted-agent.ts";
import { setTime } from "../set-time.ts";
import { createFeedClient, shapeOf } from "./feed-reader.ts";
import type { FeedClient } from "./feed-reader.ts";

const UID = "t1";
const WITHIN = { timeout: 20_000, interval: 5 };

function open(): Instance {
  const here = createInstance(createReference(systemClock));
  onTestFinished(() => here.threads.drain(0));
  return here;
}

async function follow(here: Instance, after: string | null): Promise<{ client: FeedClient; feed: Feed }> {
  const client = createFeedClient();
  const feed = await here.threads.openFeed(UID, after);
  client.read(feed);
  return { client, feed };
}

async function answer({ threads, agent }: Instance, text: string): Promise<void> {
  const reply = await threads.say(says(UID, text));
  reply.read(() => {});
  const turn = await agent.turn();
  turn.write(`You said ${text}`);
  turn.finish();
}

const historyOf = async ({ threads }: Instance) =>
  (await threads.history(UID, { limit: 100_000, before: null })).map(({ id }) => id);

test("a conversation is told as it happens: each message, then what its run does", async () => {
  const here = open();
  const { client } = await follow(here, null);
  const reply = await here.threads.say(says(UID, "Put it into the cart"));
  reply.read(() => {});
  const turn = await here.agent.turn();
  await expect.poll(() => shapeOf(client.lines), WITHIN).toEqual(["idle", "user 1", "running"]);
  expect(client.lastState()).toMatchObject({ runId: reply.runId });
  turn.call(pageCall("c1"));
  await expect.poll(() => client.lastState()?.state, WITHIN).toBe("awaiting");
  await here.threads.cancel(UID);
  const whole = ["idle", "user 1", "running", "awaiting", "assistant 2", "idle"];
  await expect.poll(() => shapeOf(client.lines), WITHIN).toEqual(whole);
});

test("who comes with an id is told what came after it, and who comes without one only what is new", async () => {
  const here = open();
  await answer(here, "One");
  await expect.poll(() => historyOf(here), WITHIN).toEqual(["1", "2"]);
  const [behind, fresh, all] = [await follow(here, "1"), await follow(here, null), await follow(here, "")];
  await answer(here, "Two");
  await expect.poll(() => behind.client.ids, WITHIN).toEqual(["2", "3", "4"]);
  await expect.poll(() => fresh.client.ids, WITHIN).toEqual(["3", "4"]);
  await expect.poll(() => all.client.ids, WITHIN).toEqual(["1", "2", "3", "4"]);
});

test("a long history is told from the first item on, a page at a time as the reader takes it", async () => {
  const here = open();
  for (let nth = 0; nth < 130; nth++) await answer(here, String(nth));
  await expect.poll(async () => (await historyOf(here)).length, WITHIN).toBe(260);
  const client = createFeedClient();
  client.setReading(false);
  client.read(await here.threads.openFeed(UID, ""));
  // Only the state: nothing is read for who takes nothing.
  expect(client.lines).toHaveLength(1);
  client.setReading(true);
  await expect.poll(() => client.ids.length, WITHIN).toBe(260);
  expect(client.ids).toEqual(await historyOf(here));
  expect((await follow(here, "100")).client.lines.map(({ type }) => type)).toEqual(["state", "reset"]);
});

test("a feed ends when the service stops, and none is opened after that", async () => {
  const here = open();
  const { client } = await follow(here, null);
  await here.threads.drain(0);
  expect(client.isEnded).toBe(true);
  expect(here.threads.feeds()).toBe(0);
  await expect(here.threads.openFeed(UID, null)).rejects.toMatchObject({ reason: "unavailable" });
});

test("a word that was lost is made up for within seconds, and a feed at rest says that it lives", async () => {
  const store = createReference(systemClock);
  const time = setTime();
  const there = createInstance(store);
  const here = createInstance(store, time);
  onTestFinished(() => Promise.all([here.threads.drain(0), there.threads.drain(0)]).then(() => {}));
  const { client } = await follow(here, null);
  // The reference tells nobody: as if each word were lost.
  await answer(there, "Did you hear?");
  await expect.poll(() => historyOf(here), WITHIN).toEqual(["1", "2"]);
  expect(client.ids).toEqual([]);
  await expect
    .poll(() => {
      time.pass(500);
      return client.ids;
    }, WITHIN)
    .toEqual(["1", "2"]);
  await expect
    .poll(() => {
      time.pass(500);
      return client.lines.at(-1)?.type;
    }, WITHIN)
    .toBe("ping");
  expect(time.clock.elapsed()).toBeLessThan(120_000);
});

test("a feed at rest asks for its last commit every ten seconds, to be told once a minute, and looks no more", async () => {
  const asked = { lastOp: 0, watch: 0, look: 0 };
  const counted = createReference(systemClock);
  const store: Store = {
    ...counted,
    lastOp: (uid) => ((asked.lastOp += 1), counted.lastOp(uid)),
    watch: (uid) => ((asked.watch += 1), counted.watch(uid)),
    look: (uid, from) => ((asked.look += 1), counted.look(uid, from)),
  };
  const time = setTime();
  const here = createInstance(store, time);
  onTestFinished(() => here.threads.drain(0));
  await answer(here, "One");
  await expect.poll(() => historyOf(here), WITHIN).toEqual(["1", "2"]);
  const { client } = await follow(here, null);
  const opened = { ...asked };
  for (let nth = 0; nth < 600; nth++) {
    time.pass(500);
    await new Promise(setImmediate);
  }
  // In five minutes: every 9 to 11 seconds, and every 60 to 71.
  expect(asked.lastOp - opened.lastOp).toBeGreaterThanOrEqual(26);
  expect(asked.lastOp - opened.lastOp).toBeLessThanOrEqual(34);
  expect(asked.watch - opened.watch).toBeGreaterThanOrEqual(4);
  expect(asked.watch - opened.watch).toBeLessThanOrEqual(5);
  expect(asked.look).toBe(opened.look);
  expect(client.ids).toEqual([]);
});

test("a look that fails before the last item is made again, though no commit follows", async () => {
  const whole = createReference(systemClock);
  let fails = false;
  const store: Store = {
    ...whole,
    // One item at a time, as where each has images; and an outage after the first.
    async look(uid, from) {
      if (fails && from !== null && from > 0) throw new StoreUnavailable("look");
      const look = await whole.look(uid, from);
      const messages = look.messages.slice(0, 1);
      return from === null ? look : { ...look, messages, to: from + messages.length };
    },
  };
  const time = setTime();
  const there = createInstance(whole);
  const here = createInstance(store, time);
  onTestFinished(() => Promise.all([here.threads.drain(0), there.threads.drain(0)]).then(() => {}));
  const { client } = await follow(here, null);
  fails = true;
  await answer(there, "Did you hear?");
  const passUntil = async (told: string[]) => {
    await expect
      .poll(() => {
        time.pass(500);
        return client.ids;
      }, WITHIN)
      .toEqual(told);
  };
  await passUntil(["1"]);
  fails = false;
  await passUntil(["1", "2"]);
});

/** A store whose looks are answered late, so that much happens while a feed catches up. */
function slowToLook(): Store {
  const store = createReference(systemClock);
  return {
    ...store,
    async look(uid, from) {
      const look = await store.look(uid, from);
      await new Promise((resolve) => setTimeout(resolve, 2));
      return look;
    },
  };
}

const someStep = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ type: "say" as const }) },
  { weight: 3, arbitrary: fc.constant({ type: "finish" as const }) },
  { weight: 1, arbitrary: fc.constant({ type: "call" as const }) },
  { weight: 1, arbitrary: fc.constant({ type: "cancel" as const }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant("connect" as const), who: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("leave" as const), who: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant("read" as const), who: fc.nat(2), reads: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.constant({ type: "wait" as const }) },
);

test("whatever is said and cancelled, however often readers leave, stall and come back: each item once, in order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { minLength: 5, maxLength: 40, size: "max" }), async (steps) => {
      const here = createInstance(slowToLook(), { limits: { threadQueueMax: 100 } });
      const clients = [createFeedClient(), createFeedClient(), createFeedClient()];
      const feeds: (Feed | null)[] = [null, null, null];
      /** Turns are played when a step says so. */
      const turns: Awaited<ReturnType<typeof here.agent.turn>>[] = [];
      let isOver = false;
      void (async () => {
        for (;;) {
          const turn = await here.agent.turn();
          if (isOver) turn.finish();
          else turns.push(turn);
        }
      })();
      const connect = async (who: number) => {
        feeds[who]?.leave();
        const client = clients[who]!;
        feeds[who] = await here.threads.openFeed(UID, client.lastId());
        client.read(feeds[who]);
      };
      for (const step of steps) {
        if (step.type === "say") (await here.threads.say(says(UID, "x"))).read(() => {});
        else if (step.type === "finish") turns.shift()?.finish();
        else if (step.type === "call") turns.shift()?.call(pageCall(`c${Math.random()}`));
        else if (step.type === "cancel") await here.threads.cancel(UID);
        else if (step.type === "connect") await connect(step.who);
        else if (step.type === "leave") feeds[step.who]?.leave();
        else if (step.type === "read") clients[step.who]!.setReading(step.reads);
        else await new Promise((resolve) => setTimeout(resolve, 1));
      }
      isOver = true;
      for (const turn of turns) turn.finish();
      const isAtRest = async () => (await here.threads.load(UID, "active"))?.state !== "running";
      await expect.poll(isAtRest, WITHIN).toBe(true);
      await here.threads.cancel(UID);
      for (const [who, client] of clients.entries()) {
        client.setReading(true);
        await connect(who);
      }
      const history = await historyOf(here);
      for (const client of clients) {
        await expect.poll(() => client.ids, WITHIN).toEqual(history);
        await expect.poll(() => client.lastState()?.state, WITHIN).toBe("idle");
        expect(client.lines.some(({ type }) => type === "reset")).toBe(false);
        mustNameKnownRuns(client);
      }
      await here.threads.drain(0);
    }),
    { numRuns: randomRuns(40) },
  );
});

/** A run is told behind the message that began it. */
function mustNameKnownRuns({ lines }: FeedClient): void {
  const begun = new Set<string>();
  for (const line of lines) {
    if (line.type === "message") begun.add(line.message.runId);
    if (line.type === "state" && "runId" in line) expect(begun).toContain(line.runId);
  }
}
