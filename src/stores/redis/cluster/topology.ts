import type { Reply } from "../connection.ts";
import { traceKey } from "../keys.ts";
import { SLOTS, slotOf } from "./slots.ts";

/** Who has which slots. Addresses are `host:port`. */
export interface Topology {
  primaryOf(slot: number): string | null;
  readonly primaries: readonly string[];
  /** Replicas too. */
  readonly nodes: readonly string[];
  /** Trace keys in a few slots of a primary; none of a node that has no slot. */
  tracesOf(address: string): readonly string[];
}

/** Slots that follow each other, as one node sees them. */
export interface Range {
  from: number;
  to: number;
  primary: string;
  replicas: string[];
}

/** The answer of CLUSTER SLOTS of the node at `asked`. */
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

/** A node that does not know its own host is where it was asked. */
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
 * What several nodes say, put together: a slot is whose most of them say it is. One that was cut off, or just woke up,
 * still believes what was so before.
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

/** One slot may be leaving its node, and two: of so many, hardly all. */
const ENOUGH = 4;
/** A node that has a single slot is found in this many. */
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
