import type { Step } from "./explore.ts";
import { holderOf } from "./state.ts";
import type { Clients, Fence, Process, Run, State, Task } from "./state.ts";

/** Small copies with a change, and names for traces. */
export function processAt(state: State, nth: number): Process {
  const process = state.processes[nth];
  if (!process) throw new Error("Cannot find a process of the model");
  return process;
}

export function withProcess(state: State, nth: number, change: Partial<Process>): State {
  const processes = state.processes.map((one, i) => (i === nth ? { ...one, ...change } : one));
  return { ...state, processes };
}

export function withTask(state: State, process: number, old: Task | null, now: Task | null): State {
  const { tasks } = processAt(state, process);
  const kept = old === null ? tasks : tasks.filter((task) => task !== old);
  return withProcess(state, process, { tasks: now === null ? kept : [...kept, now] });
}

export function withClients(state: State, change: Partial<Clients>): State {
  return { ...state, clients: { ...state.clients, ...change } };
}

export function including(list: readonly number[], one: number): readonly number[] {
  return list.includes(one) ? list : [...list, one].toSorted((a, b) => a - b);
}

/** The process names a new fence. */
export function newFence(state: State, process: number): { fence: Fence; state: State } {
  const named = processAt(state, process).named + 1;
  return { fence: process * 1000 + named, state: withProcess(state, process, { named }) };
}

/** It runs, and is not stopped. */
export function acts({ status, paused }: Process): boolean {
  return status === "up" && !paused;
}

/** Others hear nothing of it: it is gone, or stopped. */
export function isSilent({ status, paused }: Process): boolean {
  return status === "down" || paused;
}

/** Beats, and has its answer. */
export function beaten(state: State, process: number): State {
  const sent = processAt(state, process).sent + 1;
  const beats = state.beats.map((stamp, i) => (i === process ? sent : stamp));
  return withProcess({ ...state, beats }, process, { sent, heard: sent });
}

export function goesOn(action: string, state: State, broken: string | null = null): Step<State> {
  return { action, state, optional: false, broken };
}

export function may(action: string, state: State, broken: string | null = null): Step<State> {
  return { action, state, optional: true, broken };
}

export function nameOf(process: number): string {
  return String.fromCharCode(65 + process);
}

export function fenceName(fence: Fence): string {
  return `${nameOf(holderOf(fence))}:${fence % 1000}`;
}

export function messageName(message: number): string {
  return `m${message + 1}`;
}

export function runName(run: Run | null): string {
  return run === null ? "no run" : `${messageName(run.message)} ${run.phase}`;
}
