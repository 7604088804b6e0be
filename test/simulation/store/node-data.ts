import { holderOf } from "../../../src/domain/fence.ts";
import { RETIRED } from "../../../src/store.ts";
import type { CommitResult, Heartbeat, Store, ThreadCommit } from "../../../src/store.ts";
import type { Channel } from "../../../src/domain/channel.ts";
import { KEEPER, OPERATORS } from "../channels.ts";
import { createReference } from "../../stores/reference.ts";

/**
 * What one primary of the simulated cluster keeps: the reference twin of the store contract, and what the contract says
 * of instances, which the twin leaves out. Each function is one atomic step.
 */
export interface NodeData {
  readonly twin: Store;
  /** The server's own clock, at this step. */
  readonly clock: { nowMs: number };
  /** Processes by the stamp of their last heartbeat; on the node of the instances alone. */
  readonly heard: Map<string, number>;
  /** Processes that may hold a thread here. */
  readonly holders: Set<string>;
}

/** Each node has all channels and operators: which one a channel is on is of no interest to these tests. */
export function emptyData(channels: readonly Channel[]): NodeData {
  const clock = { nowMs: 0 };
  const twin = createReference({ now: () => clock.nowMs, elapsed: () => clock.nowMs });
  for (const channel of channels) void twin.putChannel(channel);
  for (const operator of [...OPERATORS, KEEPER]) void twin.addOperator(operator);
  return { twin, clock, heard: new Map(), holders: new Set() };
}

/** Whoever holds something here is listed here, in the same step. */
export async function commit(data: NodeData, change: ThreadCommit): Promise<CommitResult> {
  const result = await data.twin.commit(change);
  if (result.type === "committed") data.holders.add(holderOf(change.fence));
  return result;
}

/** Says that a process lives, by another stamp than before; answers everybody else's. */
export function beat({ heard, clock }: NodeData, processId: string): Heartbeat[] {
  heard.set(processId, Math.max(clock.nowMs, (heard.get(processId) ?? 0) + 1));
  return [...heard]
    .filter(([other]) => other !== processId)
    .map(([other, stamp]) => ({ processId: other, stamp: String(stamp) }));
}

/** Gives processes an entry among the heartbeats where they have none: from now on each beats, or is found silent. */
export function enter({ heard, clock }: NodeData, processIds: readonly string[]): void {
  for (const processId of processIds) if (!heard.has(processId)) heard.set(processId, clock.nowMs);
}

export function retire({ heard }: NodeData, processId: string): void {
  heard.set(processId, Number(RETIRED));
}

/** Takes a process off the list of holders; false where it holds something. */
export async function leave(data: NodeData, processId: string): Promise<boolean> {
  const held = await data.twin.heldBy(processId);
  if (held.length > 0) return false;
  data.holders.delete(processId);
  return true;
}

/** Forgets a process that has not beaten since. */
export function forget({ heard }: NodeData, { processId, stamp }: Heartbeat): void {
  if (String(heard.get(processId)) === stamp) heard.delete(processId);
}
