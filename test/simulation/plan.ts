import { randomOf } from "./random.ts";
import type { Random } from "./random.ts";
import type { WhileRunning } from "../../src/domain/channels/channel.ts";

/**
 * What a seed makes of a simulation: how large it is, how quick its network, which faults it has and how often. Each seed
 * leaves some faults out, so that the others are met in every company.
 */
export interface Plan {
  instances: number;
  durability: "local" | "replica";
  /** How long clients begin new things, and faults happen. */
  workMs: number;
  pages: number;
  /** Pages that share a visitor and its threads with another one. */
  pagesShareThreads: boolean;
  bots: number;
  /** One way, from and to, in ms. */
  storeLatencyMs: [number, number];
  clientLatencyMs: [number, number];
  replicaLagMs: [number, number];
  /** Shares of all calls of the store, or of messages between instances. */
  calls: { loseRequest: number; loseAnswer: number; late: number; doubled: number };
  messages: { lose: number; late: number; doubled: number };
  /** Share of streams that the network cuts. */
  cutStreams: number;
  /** Clocks run wrong by at most this share. */
  drift: number;
  /** Mean ms between two of a kind; null: none. */
  every: Record<FaultName, number | null>;
  model: ModelPlan;
  clients: ClientPlan;
  people: PeoplePlan;
  deletions: DeletionPlan;
  talk: TalkPlan;
  /** null: nothing is deleted because of its age. */
  retention: RetentionPlan | null;
  /**
   * Contents are encrypted at rest. Where acknowledged writes may be lost a user's key may be, and with it whatever was sealed
   * by it, wherever that is: nothing could be said of such a simulation.
   */
  isEncrypted: boolean;
}

export type FaultName = (typeof FAULTS)[number];

export const FAULTS = [
  "death",
  "death at a call",
  "pause",
  "pause at a call",
  "restart",
  "node down",
  "failover",
  "replica hangs",
  "stragglers",
  "stale reads",
  "clock jumps",
] as const;

/** Shares of turns. */
export interface ModelPlan {
  chunkMs: [number, number];
  chunks: [number, number];
  pageCall: number;
  serverCall: number;
  refusedCall: number;
  fails: number;
  givesUp: number;
  stalls: number;
  /** Chunks of thousands of characters, so that replies are kept in parts. */
  isLong: boolean;
}

/** Shares of what clients do next. */
export interface ClientPlan {
  thinkMs: [number, number];
  /** Of messages: with a clientMessageId, and then twice at once. */
  withId: number;
  saysTwice: number;
  cancel: number;
  catalog: number;
  history: number;
  follow: number;
  identify: number;
  /** Of answers to page calls. */
  answersTwice: number;
  neverAnswers: number;
  wrongAnswer: number;
}

/** People who take over; without operators nobody asks for one. */
export interface PeoplePlan {
  operators: number;
  /** Between two looks of an operator. */
  restMs: [number, number];
  /** Shares of messages with which the user asks for a person, and waits no longer; of turns that hand over. */
  asks: number;
  stopsWaiting: number;
  handsOff: number;
  /** Shares of acts: with an epoch that is over, and twice at once. */
  isLate: number;
  atOnce: number;
}

/** What is said otherwise than in its turn. */
export interface TalkPlan {
  whileRunning: WhileRunning;
  /** Shares: of calls of the model those that need approval; of these those that are decided, declined, and decided both ways at once. */
  confirms: number;
  decides: number;
  declines: number;
  atOnce: number;
  /** Shares of a page's messages: in the place of an earlier one; followed by a wish for another reply. */
  replaces: number;
  again: number;
  /** Share of a bot's messages after which the service has its model speak. */
  instructs: number;
}

/** Who deletes, and how often. */
export interface DeletionPlan {
  hasKeeper: boolean;
  /** Between two deletions of an admin. */
  restMs: [number, number];
  /** Shares: of an admin's deletions those of users, of a visitor's messages those with which they delete the thread. */
  users: number;
  visitors: number;
  /** Share of steps of deletions after which a fault meets who does them. */
  interrupted: number;
}

/** The channel's `retention`, with days of some seconds. */
export interface RetentionPlan {
  /** null: such things stay. */
  threadsMs: number | null;
  anonymousMs: number | null;
  /** Unused for so long, a token ends. */
  tokenMs: number;
  /** Share of messages before which a page rests for about as long as its thread is kept, or its token. */
  away: number;
}

/** What is kept for some seconds is met twice. */
const AGING_MS = 25_000;

export function planOf(seed: number): Plan {
  const random = randomOf(seed, "plan");
  const isCalm = random.chance(0.08);
  const share = (most: number) => (isCalm || random.chance(0.4) ? 0 : most * random.next() ** 2);
  const slow = random.chance(0.3);
  const retention = retentionOf(randomOf(seed, "retention's plan"));
  const instances = random.pick([2, 3, 3, 4]);
  const durability = random.pick(["local", "replica"] as const);
  return {
    instances,
    durability,
    workMs: Math.max(random.whole(8_000, 40_000), retention ? AGING_MS : 0),
    pages: random.whole(2, 6),
    pagesShareThreads: random.chance(0.6),
    bots: random.whole(0, 3),
    storeLatencyMs: slow ? [5, random.whole(50, 400)] : [0.2, random.whole(1, 8)],
    clientLatencyMs: [1, random.whole(2, 60)],
    replicaLagMs: [0.5, random.pick([2, 10, 200, 1_500])],
    calls: { loseRequest: share(0.03), loseAnswer: share(0.03), late: share(0.02), doubled: share(0.05) },
    messages: { lose: share(0.5), late: share(0.3), doubled: share(0.5) },
    cutStreams: share(0.3),
    drift: random.pick([0, 0.01, 0.05]),
    every: faultsOf(random, isCalm),
    model: modelOf(random),
    clients: clientsOf(random),
    people: peopleOf(randomOf(seed, "people's plan")),
    talk: talkOf(randomOf(seed, "talk's plan")),
    deletions: deletionsOf(randomOf(seed, "deletions' plan"), isCalm),
    retention,
    isEncrypted: durability === "replica" && randomOf(seed, "encryption").chance(0.4),
  };
}

function faultsOf(random: Random, isCalm: boolean): Plan["every"] {
  const means = FAULTS.map((name) => {
    const isOut = random.chance(0.6);
    const meanMs = random.whole(2_000, 20_000);
    return [name, isCalm || isOut ? null : meanMs] as const;
  });
  return Object.fromEntries(means) as Plan["every"];
}

function modelOf(random: Random): ModelPlan {
  const isQuick = random.chance(0.5);
  return {
    chunkMs: isQuick ? [0, 40] : [10, random.whole(50, 1_200)],
    chunks: [0, random.whole(1, 8)],
    pageCall: random.between(0, 0.5),
    serverCall: random.between(0, 0.4),
    refusedCall: random.between(0, 0.1),
    fails: random.between(0, 0.1),
    givesUp: random.between(0, 0.05),
    stalls: random.pick([0, 0, 0.03, 0.1]),
    isLong: random.chance(0.05),
  };
}

function clientsOf(random: Random): ClientPlan {
  return {
    thinkMs: random.pick([
      [0, 100],
      [50, 1_000],
      [200, 4_000],
    ]),
    withId: random.pick([0, 0.5, 1]),
    saysTwice: random.between(0, 0.4),
    cancel: random.pick([0, 0.1, 0.4]),
    catalog: random.between(0, 0.5),
    history: random.between(0, 0.6),
    follow: random.between(0, 0.4),
    identify: random.pick([0, 0.1, 0.3]),
    answersTwice: random.between(0, 0.5),
    neverAnswers: random.between(0, 0.2),
    wrongAnswer: random.between(0, 0.1),
  };
}

function peopleOf(random: Random): PeoplePlan {
  const operators = random.pick([0, 0, 1, 2, 3]);
  const share = (most: number) => (operators === 0 ? 0 : random.between(0, most));
  return {
    operators,
    restMs: random.pick([
      [0, 300],
      [100, 2_000],
    ]),
    asks: share(0.4),
    stopsWaiting: share(0.5),
    handsOff: share(0.2),
    isLate: share(0.3),
    atOnce: share(0.5),
  };
}

function talkOf(random: Random): TalkPlan {
  const share = (most: number) => (random.chance(0.5) ? 0 : random.between(0, most));
  return {
    whileRunning: random.pick(["queue", "queue", "steer", "interrupt"] as const),
    confirms: share(0.4),
    decides: random.between(0.5, 1),
    declines: random.between(0, 0.5),
    atOnce: random.between(0, 0.4),
    replaces: share(0.4),
    again: share(0.5),
    instructs: share(0.4),
  };
}

function deletionsOf(random: Random, isCalm: boolean): DeletionPlan {
  const isNone = random.chance(0.75);
  const plan: Omit<DeletionPlan, "interrupted"> = {
    hasKeeper: !isNone && random.chance(0.7),
    restMs: random.pick([
      [500, 4_000],
      [2_000, 15_000],
    ]),
    users: random.pick([0, 0.2, 0.5]),
    visitors: isNone ? 0 : random.between(0, 0.1),
  };
  const interrupted = random.pick([0, 0.1, 0.3]);
  return { ...plan, interrupted: isCalm ? 0 : interrupted };
}

function retentionOf(random: Random): RetentionPlan | null {
  if (random.chance(0.8)) return null;
  const keeps = random.pick(["threads", "anonymous", "both", "both"]);
  return {
    threadsMs: keeps === "anonymous" ? null : random.whole(3_000, 12_000),
    anonymousMs: keeps === "threads" ? null : random.whole(500, 8_000),
    tokenMs: random.whole(8_000, 20_000),
    away: random.between(0.1, 0.4),
  };
}
