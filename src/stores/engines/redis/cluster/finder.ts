import { setTimeout as sleep } from "node:timers/promises";
import { ErrorReply } from "redis";
import type { Nodes } from "./nodes.ts";
import { rangesFrom, topologyOf } from "./topology.ts";
import type { Range, Topology } from "./topology.ts";

/** Keeps finding out which node has which slots, by what the answering primaries say. */
export interface Finder {
  /** The latest result. */
  topology(): Topology;
  readyPrimaries(): string[];
  /** Resolves when the topology is known for the first time, and its primaries had time to connect. */
  found: Promise<void>;
  /** Something does not fit any more: look soon. */
  lookSoon(): void;
  close(): void;
}

/** How often the others are asked for a replacement while a primary is not connected. */
const LOST_MS = 500;
/** How often the nodes are asked while all primaries are connected. */
const QUIET_MS = 10_000;
/** The nodes are not asked more often, however many calls are refused. */
const LEAST_MS = 50;
/** How long to wait for all of them: nodes that hang never answer. */
const ANSWER_MS = 500;

export function createFinder(
  nodes: Nodes,
  seeds: readonly string[],
  /** Gets the error of a node that refuses to tell the slots. */
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

  /** Asks the primaries, which know best; if none is connected, every known node. */
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
  // Promises that are not waited for may reject later.
  for (const promise of promises) promise.catch(() => {});
  await Promise.race([Promise.allSettled(promises), sleep(ANSWER_MS, null, { ref: false })]);
}
