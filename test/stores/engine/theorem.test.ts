// For src/stores/engine.ts, src/stores/engines/
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Engine, Step, Write } from "../../../src/stores/engine.ts";
import { folderInMemory } from "../../support/stores/data-dir.ts";
import { randomRuns } from "../../support/lengths.ts";
import { stoppableMemory } from "./stoppable.ts";
import type { StoppableEngine } from "./stoppable.ts";
import { breaks, round } from "./theorem.ts";

const STOPPED = "stopped by the test";

/** On lmdb a step is one transaction: it is stopped by an error of one of the calls that write to the file. */
async function stoppableLmdb(): Promise<StoppableEngine> {
  let left = Infinity;
  vi.doMock(import("lmdb"), async (importOriginal) => {
    const lmdb = await importOriginal();
    const open = ((options: { path: string }) =>
      new Proxy(lmdb.open(options), {
        get(db, name) {
          const value: unknown = Reflect.get(db, name);
          if (typeof value !== "function") return value;
          const bound: (...words: unknown[]) => unknown = value.bind(db);
          if (name !== "put" && name !== "remove") return bound;
          return (...words: unknown[]) => {
            if (left-- > 0) return bound(...words);
            left = Infinity;
            throw new Error(STOPPED);
          };
        },
      })) as typeof lmdb.open;
    return { ...lmdb, open };
  });
  vi.resetModules();
  const { openLmdbEngine } = await import("../../../src/stores/engines/lmdb/engine.ts");
  const engine = await openLmdbEngine({ dataDir: folderInMemory(), clock: systemClock });
  onTestFinished(async () => {
    await engine.close();
    vi.doUnmock("lmdb");
    vi.resetModules();
  });
  return {
    engine,
    stopBefore: async (nth) => void (left = nth),
    goOn: async () => void (left = Infinity),
    isStop: (error) =>
      error instanceof Error && error.cause instanceof Error && error.cause.message === STOPPED,
  };
}

/** Mistakes of an engine, each made around a right one. */
type Plant = (engine: Engine, step: Step) => Promise<unknown>;

const applied = (engine: Engine, step: Step, writes: readonly Write[]) =>
  engine.apply({ slot: step.slot, checks: [], writes });

const PLANTS: Record<string, Plant> = {
  "a write before the checks": async (engine, step) => {
    const [first] = step.writes;
    if (first?.write === "set") await applied(engine, step, [first]);
    return engine.apply(step);
  },
  "an op that comes first": async (engine, step) => {
    const { op } = step;
    if (!op) return engine.apply(step);
    const last = step.writes.at(-1);
    const opened = await engine.apply({ ...step, writes: last ? [last] : [], after: [] });
    if (opened.type === "done") await applied(engine, step, [...step.writes, ...(step.after ?? [])]);
    return opened;
  },
  "a write that is not idempotent": async (engine, step) => {
    const put = step.writes.find((write) => write.write === "put" && write.mode === undefined);
    if (put?.write !== "put") return engine.apply(step);
    const names = put.members.map(([member]) => member);
    const [known] = await engine.read([{ read: "scores", key: put.key, members: names }]);
    const members = put.members.map(([member, score], nth) => [member, score + (known[nth] ?? 0)] as const);
    return engine.apply({
      ...step,
      writes: step.writes.map((write) => (write === put ? { ...put, members } : write)),
    });
  },
  "a check that is forgotten": (engine, step) => engine.apply({ ...step, checks: step.checks.slice(1) }),
  "a step in two parts": async (engine, { after = [], op, ...step }) => {
    const half = Math.ceil(step.writes.length / 2);
    const first = await engine.apply({ ...step, ...(op ? { op } : {}), writes: step.writes.slice(0, half) });
    if (first.type === "done") await applied(engine, step, [...step.writes.slice(half), ...after]);
    return first;
  },
};

/** Does a round of the theorem find the mistake? */
async function finds(stoppable: StoppableEngine, plant: Plant): Promise<boolean> {
  const { engine } = stoppable;
  const planted: Engine = { ...engine, apply: ((step: Step) => plant(engine, step)) as Engine["apply"] };
  for (let seed = 1; seed <= 3_000; seed++) {
    const [drawn] = fc.sample(round, { seed, numRuns: 1 });
    if (drawn && (await breaks({ ...stoppable, engine: planted }, drawn)) !== null) return true;
  }
  return false;
}

describe.each([
  ["in memory", async () => stoppableMemory(), 3_000],
  ["on lmdb", stoppableLmdb, 400],
] as const)(
  "P10 %s: a step that was stopped is completed by the same step; two at once are as one after the other",
  (_, open, numRuns) => {
    it("a stop is met, and known as one", async () => {
      const { engine, stopBefore, isStop } = await open();
      await stopBefore(1);
      const writes = ["a", "b"].map((id): Write => ({
        write: "put",
        key: `z:{t:00}:${id}`,
        members: [["m", 1]],
      }));
      const error = await engine
        .apply({ slot: "t:00", checks: [], writes })
        .catch((thrown: unknown) => thrown);
      expect(isStop(error)).toBe(true);
    });

    it("holds for random steps, stopped before any of their writes", async () => {
      const stoppable = await open();
      const property = fc.asyncProperty(round, async (drawn) => {
        expect(await breaks(stoppable, drawn)).toBeNull();
      });
      await fc.assert(property, { numRuns: randomRuns(numRuns) });
    });

    it.each(Object.entries(PLANTS))("finds %s", async (_name, plant) => {
      expect(await finds(await open(), plant)).toBe(true);
    });
  },
);
