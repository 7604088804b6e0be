import type { World } from "./rules.ts";
import { processOrders, signOf, signOfRequest, sorted } from "./signs.ts";
import { holderOf } from "./state.ts";
import type { Fence, Op, Request, Run, Shard, State, Task } from "./state.ts";

/**
 * One text for all states with the same future. Fences are named in the order in which they are met, revisions count
 * from the thread's own, stamps of a process keep only their order, and processes are sorted by what they are about:
 * two states that differ in names alone are one. Every number is small, and one character.
 */
export function canonicalKey(state: State, world: World): string {
  const [first = [], ...others] = processOrders(state);
  return others.reduce(
    (least, order) => {
      const key = keyIn(order, state, world);
      return key < least ? key : least;
    },
    keyIn(first, state, world),
  );
}

function keyIn(order: readonly number[], state: State, world: World): string {
  const places: number[] = [];
  for (const [place, process] of order.entries()) places[process] = place;
  const hasBars = world.rules.bars;
  const ranks = stampRanks(state, hasBars);
  const fences: Fence[] = [];
  const out: number[] = [];

  const revOf = (thread: number) => state.shard.threads[thread]?.rev ?? 0;
  const fence = (one: Fence | null) => {
    if (one === null) return out.push(0);
    const known = fences.indexOf(one);
    if (known >= 0) return out.push(known + 1);
    fences.push(one);
    // A fence that is met first says whose it is.
    return out.push(fences.length, places[holderOf(one)] ?? 0);
  };
  const op = (one: Op | null, rev: number) => {
    fence(one === null ? null : one.fence);
    out.push(one === null ? 0 : one.rev - rev + 40);
  };
  const run = (one: Run | null) => out.push(one === null ? 0 : 1 + one.message * 3 + PHASES[one.phase]);
  const number = (one: number | null) => out.push(one === null ? 0 : one + 1);
  const numbers = (list: readonly number[]) => out.push(list.length, ...list);
  const stamp = (process: number, one: number) => out.push((ranks[process]?.indexOf(one) ?? -1) + 1);

  const slot = (shard: Shard) => {
    for (const [nth, thread] of shard.threads.entries()) {
      const revs = revOf(nth);
      out.push(thread.rev - revs + 40, thread.lastHadNext ? 1 : 0);
      fence(thread.fence);
      op(thread.lastOp, revs);
      run(thread.run);
      numbers(thread.queue);
      numbers(thread.ended);
      out.push(thread.own.length);
      for (const one of thread.own) fence(one);
    }
    for (const process of order) {
      out.push(shard.listed[process] ? 1 : 0);
      stamp(process, shard.bars[process] ?? 0);
    }
  };
  const request = (one: Request) => {
    const revs = revOf(one.thread);
    if (one.type === "wait") return out.push(0, one.thread, one.message);
    out.push(1 + WHYS[one.why], one.thread, one.rev - revs + 40, one.holds ? 1 : 0);
    fence(one.fence);
    fence(one.takesFrom);
    op(one.readOp, revs);
    run(one.run);
    number(one.ends);
    number(one.starts);
    number(one.orWait);
    if (hasBars) stamp(holderOf(one.fence), one.heard);
  };
  const task = (one: Task) => {
    out.push(TYPES[one.type]);
    switch (one.type) {
      case "ask":
        out.push(one.barred ? 1 : 0);
        return request(one.request);
      case "live":
        return request(one.request);
      case "sweep":
        out.push(STAGES[one.stage], places[one.of] ?? 0);
        return stamp(one.of, one.stamp);
      case "watch":
        return out.push(one.thread, one.message);
    }
  };

  slot(state.shard);
  for (const process of order) {
    const one = state.processes[process];
    if (!one) continue;
    out.push(STATUSES[one.status] * 2 + (one.paused ? 1 : 0), one.tasks.length);
    stamp(process, state.beats[process] ?? 0);
    if (hasBars) stamp(process, one.heard);
    for (const each of sorted(one.tasks, signOf)) task(each);
  }
  out.push(state.late.length);
  for (const one of sorted(state.late, signOfRequest)) request(one);
  const { shard, beats } = state.replicas;
  out.push((shard ? 1 : 0) + (beats ? 2 : 0));
  if (shard) slot(shard);
  if (beats) for (const process of order) stamp(process, beats[process] ?? 0);
  const { said, acked, lost, told, undone } = state.clients;
  out.push(said);
  for (const list of [acked, lost, told, undone]) numbers(list);
  const { crash, pause, lost: answers, late, threadFailover, beatFailover, cancel } = state.faults;
  out.push(crash, pause, answers, late, threadFailover, beatFailover, cancel);
  return String.fromCharCode(...out);
}

const PHASES = { running: 0, awaiting: 1, resumed: 2 } as const;
const WHYS = { say: 0, "take up": 1, resume: 2, step: 3, rest: 4, end: 5, begin: 6, cancel: 7 } as const;
const TYPES = { ask: 0, live: 1, sweep: 2, watch: 3 } as const;
const STAGES = { empty: 0, gone: 1, met: 2 } as const;
const STATUSES = { off: 0, up: 1, down: 2 } as const;

/** By process: its stamps in their order. */
function stampRanks(state: State, withClaims: boolean): number[][] {
  const stamps: number[][] = state.processes.map(() => []);
  const note = (process: number, stamp: number) => {
    const noted = stamps[process];
    if (stamp > 0 && noted && !noted.includes(stamp)) noted.push(stamp);
  };
  const noteRequest = (one: Request) => {
    if (withClaims && one.type === "commit") note(holderOf(one.fence), one.heard);
  };
  const noteSlots = (beats: readonly number[], { bars }: Shard) => {
    for (const process of stamps.keys()) {
      note(process, beats[process] ?? 0);
      note(process, bars[process] ?? 0);
    }
  };
  noteSlots(state.beats, state.shard);
  const { beats, shard } = state.replicas;
  if (beats || shard) noteSlots(beats ?? state.beats, shard ?? state.shard);
  for (const [process, { heard, tasks }] of state.processes.entries()) {
    if (withClaims) note(process, heard);
    for (const task of tasks) {
      if (task.type === "sweep") note(task.of, task.stamp);
      if (task.type === "ask" || task.type === "live") noteRequest(task.request);
    }
  }
  for (const one of state.late) noteRequest(one);
  for (const noted of stamps) if (noted.length > 1) noted.sort((a, b) => a - b);
  return stamps;
}
