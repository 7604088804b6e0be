import type { Bounds } from "./state.ts";

/** What is explored whole. `messages`, `up`, `threads`, `course` and `durability` are as `usual` where nothing is said. */
export const usual: Bounds = {
  processes: 3,
  up: 2,
  threads: 1,
  messages: 1,
  course: "short",
  durability: "local",
  faults: {},
};

export interface Configuration {
  name: string;
  bounds: Bounds;
  /** So many states at least: a model that says less has lost something. */
  atLeast: number;
}

function configuration(name: string, atLeast: number, bounds: Partial<Bounds>): Configuration {
  return { name, atLeast, bounds: { ...usual, ...bounds } };
}

/** In every test run. */
export const short: Configuration[] = [
  configuration("a death, a sleep, a late request", 25_000, { faults: { crash: 1, pause: 1, late: 1 } }),
  configuration("two messages, and an answer that is lost", 15_000, {
    processes: 2,
    messages: 2,
    faults: { crash: 1, pause: 1, lost: 1 },
  }),
  configuration("both slots fail over", 30_000, { faults: { crash: 1, threadFailover: 1, beatFailover: 1 } }),
  configuration("saves within a run, late or undone", 20_000, {
    processes: 2,
    course: "step",
    faults: { pause: 1, late: 1, threadFailover: 1 },
  }),
  configuration("page tools, and a failover", 10_000, {
    processes: 2,
    messages: 2,
    course: "page",
    faults: { threadFailover: 1 },
  }),
  configuration("a cancel, and a failover", 15_000, { faults: { crash: 1, cancel: 1, threadFailover: 1 } }),
  configuration("two threads", 20_000, {
    processes: 2,
    threads: 2,
    messages: 2,
    faults: { crash: 1, threadFailover: 1, beatFailover: 1 },
  }),
  configuration("replicas confirm", 5_000, {
    processes: 2,
    messages: 2,
    durability: "replica",
    faults: { crash: 1, lost: 1, threadFailover: 1 },
  }),
];

/** With PROTOCOL=full. */
export const long: Configuration[] = [
  configuration("two messages, three processes", 70_000, { messages: 2, faults: { crash: 1, pause: 1 } }),
  configuration("a death, a sleep, a late request, a failover", 700_000, {
    faults: { crash: 1, pause: 1, late: 1, threadFailover: 1 },
  }),
  configuration("two deaths, a sleep, a lost answer, a failover", 400_000, {
    faults: { crash: 2, pause: 1, lost: 1, threadFailover: 1 },
  }),
  configuration("a death, a sleep, and both slots fail over", 1_000_000, {
    faults: { crash: 1, pause: 1, threadFailover: 1, beatFailover: 1 },
  }),
  configuration("two messages, and both slots fail over", 1_000_000, {
    messages: 2,
    faults: { crash: 1, threadFailover: 1, beatFailover: 1 },
  }),
  configuration("page tools, a death and a failover", 70_000, {
    processes: 2,
    messages: 2,
    course: "page",
    faults: { crash: 1, threadFailover: 1 },
  }),
  configuration("replicas confirm, and page tools", 35_000, {
    processes: 2,
    messages: 2,
    course: "page",
    durability: "replica",
    faults: { lost: 2, threadFailover: 1 },
  }),
];
