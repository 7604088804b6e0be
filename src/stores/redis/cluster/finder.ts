import { setTimeout as sleep } from "node:timers/promises";
import { ErrorReply } from "redis";
import type { Nodes } from "./nodes.ts";
import { rangesFrom, topologyOf } from "./topology.ts";
import type { Range, Topology } from "./topology.ts";

/** Finds out who has which slots, again and again: by what the primaries say that answer. */
export interface Finder {
  /** As it was found last. */
  topology(): Topology;
  readyPrimaries(): string[];
  /** Resolves when the topology is known for the first time, and its primaries had time to connect. */
  found: Promise<void>;
  /** Something does not fit any more. */
  lookSoon(): void;
  close(): void;
}

/** While a primary is not connected, the others are asked so often who takes its place. */
const LOST_MS = 500;
/** Nothing is wrong, as far as anybody knows. */
const QUIET_MS = 10_000;
/** However many calls are refused, the nodes are not asked more often. */
const LEAST_MS = 50;
/** How long to wait for all of them: the ones that hang say nothing. */
const ANSWER_MS = 500;

export function createFinder(
  nodes: Nodes,
  seeds: readonly string[],
  /** Told of a node that does not say who has which slots. */
  onRefused: (error: unknown) => void = () => {},
): Finder {
  let topology = topologyOf([]);
  let timer: NodeJS.Timeout | null = null;
  let timerAtMs = Infinity;
  let looking = false;
  let closed = false;

  const readyPrimaries = () => topology.primaries.filter((address) => nodes.at(address).isReady);

  async function viewOf(address: string): Promise<Range[]> {
    const server = nodes.at(address);
    await server.connected;
    return rangesFrom(await server.order("CLUSTER", "SLOTS"), address);
  }

  /** Who has a slot knows best; where none of them answers, anybody. */
  async function look(): Promise<void> {
    const ready = readyPrimaries();
    const asked = ready.length > 0 ? ready : [...new Set([...topology.nodes, ...seeds])];
    const views: Range[][] = [];
    const answers = asked.map(async (address) => {
      try {
        views.push(await viewOf(address));
      } catch (error) {
        if (error instanceof ErrorReply) onRefused(error);
        throw error;
      }
    });
    await settledSoon(answers);
    if (views.length === 0) await Promise.any(answers).catch(() => {});
    if (closed || views.length === 0) return;
    topology = topologyOf(views);
    nodes.keep(topology.primaries);
  }

  function lookWithin(ms: number): void {
    const atMs = performance.now() + ms;
    if (closed || looking || timerAtMs <= atMs) return;
    if (timer) clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(lookNow, ms);
    timer.unref();
  }

  function lookNow(): void {
    timerAtMs = Infinity;
    looking = true;
    void look().finally(() => {
      looking = false;
      const allReady = readyPrimaries().length === topology.primaries.length;
      lookWithin(allReady ? QUIET_MS : LOST_MS);
    });
  }

  async function firstFound(): Promise<void> {
    while (!closed && topology.primaries.length === 0) {
      await look();
      await sleep(LEAST_MS);
    }
    if (closed) return;
    const connected = topology.primaries.map((address) => nodes.at(address).connected);
    await Promise.any(connected);
    await settledSoon(connected);
    lookWithin(LOST_MS);
  }

  return {
    topology: () => topology,
    readyPrimaries,
    found: firstFound(),
    lookSoon: () => lookWithin(LEAST_MS),
    close() {
      closed = true;
      if (timer) clearTimeout(timer);
    },
  };
}

async function settledSoon(promises: readonly Promise<unknown>[]): Promise<void> {
  // Who is not waited for may fail later.
  for (const promise of promises) promise.catch(() => {});
  await Promise.race([Promise.allSettled(promises), sleep(ANSWER_MS, null, { ref: false })]);
}
