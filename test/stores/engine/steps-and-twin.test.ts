// For src/stores/steps/
import { describe } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { storeOn } from "../../../src/stores/steps/store.ts";
import { dumpStore } from "../dump-store.ts";
import { encryptedForAnybody } from "../../support/stores/content-keys.ts";
import { itEqualsTheReference } from "../twin/equivalence.ts";
import { checkInvariants } from "../twin/invariants.ts";
import { Stopped, createMemoryEngine } from "./memory-engine.ts";
import type { MemoryEngine } from "./memory-engine.ts";

/** The steps of the store over the plainest engine, compared with the twin: P10, P11. */

/** The same numbers in each test, from 0 up to 1. */
function numbers(): () => number {
  let last = 1;
  return () => (last = (last * 48_271) % 2_147_483_647) / 2_147_483_647;
}

/** A call that is stopped before a write is made again, until it has an answer. */
function stopped(store: Store, engine: MemoryEngine, random: () => number): Store {
  async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      engine.stopBefore(random() < 0.6 ? Math.floor(random() * 12) : Infinity);
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof Stopped)) throw error;
      } finally {
        engine.stopBefore(Infinity);
      }
    }
  }
  return {
    ...store,
    commit: (commit) => untilAnswered(() => store.commit(commit)),
    wait: (uid, message, max) => untilAnswered(() => store.wait(uid, message, max)),
    setCatalog: (uid, slug, catalog) => untilAnswered(() => store.setCatalog(uid, slug, catalog)),
    eraseThread: (uid, atMs) => untilAnswered(() => store.eraseThread(uid, atMs)),
  };
}

/** Asks now one process, now the other: what each knows of a thread is often stale. */
function inTurns(one: Store, other: Store, random: () => number): Store {
  const either = () => (random() < 0.5 ? one : other);
  return {
    ...one,
    load: (...asked) => either().load(...asked),
    commit: (commit) => either().commit(commit),
    wait: (...asked) => either().wait(...asked),
    setCatalog: (...asked) => either().setCatalog(...asked),
    eraseThread: (...asked) => either().eraseThread(...asked),
    close: async () => void (await Promise.all([one.close(), other.close()])),
  };
}

async function open(asked: { stops: boolean; processes: 1 | 2; encrypts: boolean }) {
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => aheadMs, elapsed: () => aheadMs };
  const engine = createMemoryEngine(clock);
  const random = numbers();
  const process = () =>
    storeOn(engine.handle(), { clock, log: { warn() {} }, ...(asked.encrypts ? encryptedForAnybody() : {}) });
  const opened = async () => {
    const first = await process();
    const store = asked.processes === 1 ? first : inTurns(first, await process(), random);
    return asked.stops ? stopped(store, engine, random) : store;
  };
  let store = await opened();
  return {
    engine,
    store,
    reopen: async () => {
      await store.close();
      return (store = await opened());
    },
    another: process,
    elapse: async (ms: number) => void (aheadMs += ms),
    clean: async () => {},
  };
}

describe.each([
  { stops: false, processes: 1, encrypts: false },
  { stops: true, processes: 1, encrypts: false },
  { stops: false, processes: 2, encrypts: false },
  { stops: true, processes: 2, encrypts: false },
  { stops: true, processes: 2, encrypts: true },
] as const)("the steps of $processes processes, stopped: $stops, encrypted: $encrypts", (asked) => {
  itEqualsTheReference(() => open(asked), {
    runs: 100,
    elapses: true,
    faults: async ({ engine }) => checkInvariants(await dumpStore(engine)),
  });
});
