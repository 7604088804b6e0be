import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { hashTagOf } from "../../../src/stores/engines/redis/cluster/slots.ts";
import { tables } from "../../../src/stores/tables.ts";
import type { ClusterNode } from "../../support/stores/cluster-node.ts";
import { until } from "../../support/until.ts";
import type { ClusterFleet } from "./cluster-fleet.ts";
import { clusterNemeses } from "./cluster-nemeses.ts";
import type { ClusterNemesis, ClusterNemesisName, Scene } from "./cluster-nemeses.ts";
import { mustHave } from "../history/instances.ts";
import { startWitness } from "./witness.ts";
import type { Away } from "./witness.ts";
import { startWorkload } from "../history/workload.ts";
import type { Answer, Workload } from "../history/workload.ts";

/** One nemesis, and what callers were told while it lasted. */
export interface Round {
  nemesis: ClusterNemesisName;
  workload: Workload;
  faults: string[];
  /** Who needs the shard that was hit, for the channel or for the thread, and all others. */
  hit: Told;
  others: Told;
  /** The threads of the first. */
  hitThreads: ReadonlySet<string>;
  /** How long the cluster itself did not serve the shard; 0: it always did. */
  awayMs: number;
  /** From then on until each caller of the shard was served; null where it was not away. */
  servedAfterMs: number | null;
  /** The longest that this process, with all callers in it, stood still by itself. */
  stoodStillMs: number;
}

export interface Told {
  acknowledged: number;
  /** 503. */
  refused: number;
  /** The connection ended without an answer. */
  unanswered: number;
  longestMs: number;
}

export interface RoundOptions {
  nemesis: ClusterNemesisName;
  /** Which of the three, or the next one that keeps any thread. */
  shard: number;
  threads: number;
  /** Before the nemesis, and after the cluster is whole again. */
  restMs: number;
  random: () => number;
}

/** Who has heard nothing by then has waited for ever. */
const PATIENCE_MS = 20_000;

/** Callers with threads of their own write; then the nemesis; then the cluster is whole again, and everything is checked. */
export async function playRound(fleet: ClusterFleet, options: RoundOptions): Promise<Round> {
  const answers: Answer[] = [];
  const workload = await startWorkload(fleet, {
    threads: options.threads,
    writers: 1,
    patienceMs: PATIENCE_MS,
    publishableKeys: [...fleet.channels.keys()],
    onAnswer: (answer) => void answers.push(answer),
  });
  const stop = once(() => workload.stop());
  try {
    const callers = await callersOfOne(fleet, workload, options.shard);
    const endured = await endure(fleet, { options, callers, answers });
    await stop();
    const hitThreads = clusterNemeses[options.nemesis].hits ? callers.hit : new Set<string>();
    const isHit = ({ threadId }: Answer) => hitThreads.has(threadId);
    const { away, stoodStillMs } = endured;
    return {
      nemesis: options.nemesis,
      workload,
      faults: await workload.faults(),
      hit: told(answers.filter(isHit)),
      others: told(answers.filter((answer) => !isHit(answer))),
      hitThreads,
      awayMs: away?.awayMs ?? 0,
      servedAfterMs: away && hitThreads.size > 0 ? servedAfter(answers, hitThreads, away.backAtMs) : null,
      stoodStillMs,
    };
  } finally {
    await stop();
  }
}

/** The nemesis from its begin to its end, and what the witness and this process's own clock say of it. */
async function endure(
  fleet: ClusterFleet,
  round: { options: RoundOptions; callers: Callers; answers: readonly Answer[] },
): Promise<{ away: Away | null; stoodStillMs: number }> {
  const { callers, answers } = round;
  const { restMs } = round.options;
  const nemesis: ClusterNemesis = clusterNemeses[round.options.nemesis];
  const scene = await sceneOf(fleet, round);
  const key = `witness:{${hashTagOf(mustHave(callers.keys[0]))}}`;
  const witness = startWitness(fleet.cluster, { key, durability: fleet.durability });
  const stopWitness = once(() => witness.stop());
  const delay = monitorEventLoopDelay({ resolution: 10 });
  try {
    await pause(restMs);
    delay.enable();
    await nemesis.begin(scene);
    await nemesis.last(scene);
    await nemesis.undo(scene);
    await fleet.cluster.whole();
    await allServed(callers.hit, answers);
    await pause(restMs);
    return { away: await stopWitness(), stoodStillMs: delay.max / 1e6 };
  } finally {
    delay.disable();
    await stopWitness();
  }
}

async function sceneOf(
  fleet: ClusterFleet,
  round: { options: RoundOptions; callers: Callers; answers: readonly Answer[] },
): Promise<Scene> {
  const { primary, keys, there } = round.callers;
  return {
    fleet,
    primary,
    replica: await fleet.cluster.replicaOf(primary),
    keys,
    random: round.options.random,
    acknowledgedThere() {
      const sinceMs = performance.now();
      const isNew = ({ threadId, status, sentAtMs }: Answer) =>
        status === 200 && sentAtMs > sinceMs && there.has(threadId);
      return until("a message is acknowledged", () => round.answers.some(isNew));
    },
  };
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | null = null;
  return () => (done ??= work());
}

/** Each of the callers has been served since now; whoever is not in time never is, and the figures say so. */
async function allServed(callers: ReadonlySet<string>, answers: readonly Answer[]): Promise<void> {
  const sinceMs = performance.now();
  const isServed = (caller: string) =>
    answers.some(({ threadId, status, atMs }) => threadId === caller && status === 200 && atMs > sinceMs);
  while (![...callers].every(isServed) && performance.now() < sinceMs + PATIENCE_MS) await pause(50);
}

function byPort(one: ClusterNode, other: ClusterNode): number {
  return one.port - other.port;
}

interface Callers {
  primary: ClusterNode;
  /** Threads that the shard keeps. */
  there: Set<string>;
  /** Those, and the ones whose channel it keeps. */
  hit: Set<string>;
  keys: string[];
}

async function callersOfOne(fleet: ClusterFleet, workload: Workload, shard: number): Promise<Callers> {
  const primaries = (await fleet.cluster.primaries()).toSorted(byPort);
  for (const primary of [...primaries.slice(shard), ...primaries.slice(0, shard)]) {
    const callers = await callersOf(fleet, workload, primary);
    if (callers.there.size > 0) return callers;
  }
  throw new Error("Cannot choose a shard: none keeps a thread");
}

async function callersOf(
  { cluster, channels }: ClusterFleet,
  { threads }: Workload,
  primary: ClusterNode,
): Promise<Callers> {
  const there = new Set<string>();
  const hit = new Set<string>();
  const keys = new Set<string>();
  const isThere = async (key: string) => {
    if ((await cluster.primaryOf(key)) !== primary) return false;
    keys.add(key);
    return true;
  };
  for (const { threadId, publishableKey } of threads) {
    const hasChannel = await isThere(tables.channel.key(mustHave(channels.get(publishableKey))));
    const hasThread = await isThere(tables.header.key(threadId));
    if (hasThread) there.add(threadId);
    if (hasThread || hasChannel) hit.add(threadId);
  }
  return { primary, there, hit, keys: [...keys] };
}

function told(answers: readonly Answer[]): Told {
  const withStatus = (status: number | null) => answers.filter((answer) => answer.status === status).length;
  return {
    acknowledged: withStatus(200),
    refused: withStatus(503),
    unanswered: withStatus(null),
    longestMs: Math.max(0, ...answers.map(({ sentAtMs, atMs }) => atMs - sentAtMs)),
  };
}

/** The last of the callers to be served; Infinity: not in this round. */
function servedAfter(answers: readonly Answer[], callers: ReadonlySet<string>, sinceMs: number): number {
  const firsts = [...callers].map((caller) => {
    const first = answers.find(
      ({ threadId, status, atMs }) => threadId === caller && status === 200 && atMs > sinceMs,
    );
    return first ? first.atMs - sinceMs : Infinity;
  });
  return Math.max(0, ...firsts);
}
