import type { Reply } from "../connection.ts";
import { traceKey } from "../library.ts";
import { SLOTS, slotOf } from "./slots.ts";

/** Which node has which slots. Addresses are `host:port`. */
export interface Topology {
  primaryOf(slot: number): string | null;
  readonly primaries: readonly string[];
  /** Including replicas. */
  readonly nodes: readonly string[];
  /** Trace keys in a few slots of a primary; empty for a node without slots. */
  tracesOf(address: string): readonly string[];
}

/** Consecutive slots, as one node sees them. */
export interface Range {
  from: number;
  to: number;
  primary: string;
  replicas: string[];
}

/** Reads the reply to CLUSTER SLOTS of the node at `asked`. */
export function rangesFrom(reply: Reply, asked: string): Range[] {
  return listFrom(reply).map((entry) => {
    const [from, to, ...nodes] = listFrom(entry);
    const [primary = asked, ...replicas] = nodes.map((node) => addressFrom(node, asked));
    return { from: Number(from), to: Number(to), primary, replicas };
  });
}

function addressFrom(node: Reply, asked: string): string {
  const [host, port] = listFrom(node);
  const isNamed = typeof host === "string" && host !== "?";
  return resolved(`${isNamed ? host : ""}:${Number(port)}`, asked);
}

function listFrom(reply: Reply): Reply[] {
  if (!Array.isArray(reply)) throw new Error("Cannot read the slots of a cluster: expected a list");
  return reply;
}

/** A node that does not know its own host has the one that it was asked at. */
export function resolved(address: string, asked: string): string {
  return address.startsWith(":") ? `${hostOf(asked)}${address}` : address;
}

export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":"));
}

export function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(":") + 1));
}

/**
 * Joins the views of several nodes: a slot belongs to the node that most of them name. A node that was cut off, or
 * has just come back, still has an old view.
 */
export function topologyOf(views: Range[][]): Topology {
  const all = views.flat();
  const owners = Array.from<string | null>({ length: SLOTS }).fill(null);
  // Between two edges all slots have the same owner.
  const edges = [...new Set(all.flatMap(({ from, to }) => [from, to + 1]))].sort((a, b) => a - b);
  for (const [i, from] of edges.entries()) {
    const here = all.filter((range) => range.from <= from && from <= range.to);
    owners.fill(mostNamed(here.map(({ primary }) => primary)), from, edges[i + 1] ?? from);
  }
  const primaries = [...new Set(owners.filter((owner) => owner !== null))];
  const traces = new Map<string, string[]>();

  function tracesOf(address: string): string[] {
    const known = traces.get(address);
    if (known) return known;
    const found = primaries.includes(address) ? keysIn((slot) => owners[slot] === address) : [];
    traces.set(address, found);
    return found;
  }

  return {
    primaryOf: (slot) => owners[slot] ?? null,
    primaries,
    nodes: [...new Set(all.flatMap(({ primary, replicas }) => [primary, ...replicas]))],
    tracesOf,
  };
}

function mostNamed(names: string[]): string | null {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? null;
}

/** One or two slots may be moving away from a node; hardly all of this many. */
const ENOUGH = 4;
/** Enough keys to hit a node's only slot. */
const MOST_TRIES = 10 * SLOTS;

function keysIn(isWanted: (slot: number) => boolean): string[] {
  const keys = new Map<number, string>();
  for (let i = 0; i < MOST_TRIES && keys.size < ENOUGH; i++) {
    const key = traceKey(`t:${i}`);
    const slot = slotOf(key);
    if (isWanted(slot)) keys.set(slot, key);
  }
  return [...keys.values()];
}
