// For src/stores/steps/threads/
import { describe, expect, test } from "vitest";
import { long, short, usual } from "./configurations.ts";
import { explore, told } from "./explore.ts";
import type { Exploration, Limits, Violation } from "./explore.ts";
import { ownership } from "./ownership.ts";
import { mended, today } from "./rules.ts";
import type { Rules, World } from "./rules.ts";
import type { Bounds } from "./state.ts";

/**
 * The protocol by which processes own threads, explored whole within bounds (src/threads/protocol.md). PROTOCOL=full
 * explores wider bounds too, for minutes of one core, and prints how many states there were.
 */
const isFull = process.env["PROTOCOL"] === "full";
const MAX_STATES = isFull ? 5_000_000 : 300_000;

/** Nothing here waits for time; slow machines are slow. */
const PATIENTLY = { timeout: 1_800_000 };

type Bounded = Omit<World, "bounds"> & { bounds: Partial<Bounds> };

function exploreIn(world: Bounded, limits: Limits = {}): Promise<Exploration> {
  const model = ownership({ ...world, bounds: { ...usual, ...world.bounds } });
  return explore(model, { maxStates: MAX_STATES, ...limits });
}

/** Nothing is wrong, and everything was seen. */
const HOLDS = { violation: null, isWhole: true };

function verdictOf({ violation, isWhole }: Exploration): { violation: string | null; isWhole: boolean } {
  return { violation: violation && told(violation), isWhole };
}

async function verdictIn(world: Bounded, limits?: Limits) {
  return verdictOf(await exploreIn(world, limits));
}

async function violationIn(world: Bounded): Promise<Violation | null> {
  return (await exploreIn(world)).violation;
}

describe("P1, P5, P6, P9: where an unknown owner is a dead one, the protocol", () => {
  test.each(isFull ? [...short, ...long] : short)("holds: $name", PATIENTLY, async (configuration) => {
    const { name, bounds, atLeast } = configuration;
    const exploration = await exploreIn({ rules: mended, bounds });
    if (isFull) console.log(`${name}: ${exploration.states} states, ${exploration.steps} steps`);
    expect(verdictOf(exploration)).toEqual(HOLDS);
    expect(exploration.states).toBeGreaterThan(atLeast);
  });

  test("needs neither a bar nor a look at the last beat to forget a process", PATIENTLY, async () => {
    const rules: Rules = { ...mended, mistakes: ["forgets whoever has beaten since"] };
    expect(await verdictIn({ rules, bounds: { faults: { crash: 1, pause: 1 } } })).toEqual(HOLDS);
  });
});

describe("the protocol without lists, which forgets by bars", () => {
  test.each<{ bounds: Partial<Bounds> }>([
    { bounds: { faults: { crash: 1, pause: 1 } } },
    { bounds: { processes: 2, messages: 2, faults: { crash: 1, pause: 1 } } },
  ])("holds where no slot fails over: $bounds", PATIENTLY, async ({ bounds }) => {
    expect(await verdictIn({ rules: today, bounds })).toEqual(HOLDS);
  });

  test.each<{ slot: string; bounds: Partial<Bounds> }>([
    { slot: "threads", bounds: { faults: { crash: 1, threadFailover: 1 } } },
    { slot: "threads", bounds: { durability: "replica", faults: { crash: 1, lost: 1, threadFailover: 1 } } },
    { slot: "heartbeats", bounds: { faults: { crash: 1, beatFailover: 1 } } },
  ])("leaves a thread to an unknown owner when the slot of the $slot fails over: $bounds", async (row) => {
    const violation = await violationIn({ rules: today, bounds: row.bounds });
    expect(violation).toMatchObject({ kind: "stuck" });
    expect(violation?.trace.at(-1)).toContain(`the slot of the ${row.slot} fails over`);
  });

  test("is not mended by those who wait for a thread: there may be none", async () => {
    const bounds = { faults: { crash: 1, threadFailover: 1 } };
    const violation = await violationIn({ rules: { ...today, watches: true }, bounds });
    expect(violation).toMatchObject({ kind: "stuck" });
  });

  test.each<{ what: string; bounds: Partial<Bounds> }>([
    {
      what: "an acknowledged message is lost",
      bounds: { processes: 2, messages: 2, course: "page", faults: { threadFailover: 1 } },
    },
    {
      what: "a message that was answered runs again",
      bounds: { faults: { crash: 1, pause: 1, threadFailover: 1 } },
    },
    {
      what: "a message that was answered runs again",
      bounds: { durability: "replica", faults: { lost: 1, pause: 1, threadFailover: 1 } },
    },
  ])("lets in a claim that stands on what a failover undid: $what, $bounds", PATIENTLY, async (row) => {
    const rules = { ...mended, comparesLastOp: false };
    expect(await violationIn({ rules, bounds: row.bounds })).toMatchObject({ what: row.what });
  });
});

/** What would be wrong, in which bounds, and what is seen of it. */
const PLANTED: { rules: Rules; bounds: Partial<Bounds>; seen: Partial<Violation> }[] = [
  {
    rules: { ...today, mistakes: ["forgets without a bar"] },
    bounds: { processes: 2, faults: { crash: 1, pause: 1 } },
    seen: { kind: "stuck" },
  },
  {
    rules: { ...today, mistakes: ["forgets whoever has beaten since"] },
    bounds: { processes: 2, faults: { crash: 1, pause: 1 } },
    seen: { kind: "stuck" },
  },
  {
    rules: { ...today, mistakes: ["forgets without a look at what is owned"] },
    bounds: { faults: { crash: 1 } },
    seen: { kind: "stuck" },
  },
  {
    rules: { ...mended, mistakes: ["forgets without a look at what is owned"] },
    bounds: { faults: { crash: 1 } },
    seen: { kind: "endless" },
  },
  {
    rules: { ...mended, mistakes: ["does not look for what it has lost"] },
    bounds: { processes: 2, faults: { threadFailover: 1 } },
    seen: { kind: "stuck" },
  },
  {
    rules: { ...mended, mistakes: ["does not compare the operation id"] },
    bounds: { processes: 2, faults: { lost: 1 } },
    seen: { what: "a repeat of what was just done is not answered as the first one was" },
  },
  {
    rules: { ...mended, mistakes: ["does not compare the fence"] },
    bounds: { processes: 2, faults: { pause: 1, threadFailover: 1 } },
    seen: { what: "a process commits that does not own the thread" },
  },
  {
    rules: { ...mended, mistakes: ["does not compare the revision"] },
    bounds: { processes: 2, messages: 2, faults: { threadFailover: 1 } },
    seen: { what: "an acknowledged message is lost" },
  },
  {
    // Where no slot fails over, the revision alone finds out whoever comes second.
    rules: { ...today, mistakes: ["does not compare takesFrom", "does not compare the revision"] },
    bounds: { up: 3, faults: { crash: 1 } },
    seen: { what: "a claim takes the thread from an owner that it does not name" },
  },
  {
    rules: { ...mended, mistakes: ["a release forgets the queue"] },
    bounds: { processes: 2, messages: 2 },
    seen: { kind: "stuck" },
  },
  {
    rules: { ...mended, mistakes: ["a claim does not list its owner"] },
    bounds: { processes: 2 },
    seen: { what: "an owner is not on the list" },
  },
  {
    rules: { ...mended, mistakes: ["strikes owners off the list"] },
    bounds: { processes: 2, faults: { pause: 1 } },
    seen: { what: "an owner is not on the list" },
  },
];

describe("a planted mistake", () => {
  test.each(PLANTED)("is found: $rules.mistakes", PATIENTLY, async ({ rules, bounds, seen }) => {
    expect(await violationIn({ rules, bounds })).toMatchObject(seen);
  });

  test.each(PLANTED)("is all that is wrong there: $rules.mistakes", PATIENTLY, async ({ rules, bounds }) => {
    expect(await verdictIn({ rules: { ...rules, mistakes: [] }, bounds })).toEqual(HOLDS);
  });
});
