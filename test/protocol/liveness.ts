import type { Step } from "./explore.ts";
import type { Rules, World } from "./rules.ts";
import { heldBy, leave, threadAt } from "./store-steps.ts";
import { holderOf } from "./state.ts";
import type { Fence, Process, State, Task } from "./state.ts";
import {
  acts,
  beaten,
  fenceName,
  goesOn,
  isSilent,
  nameOf,
  processAt,
  withProcess,
  withTask,
} from "./steps.ts";
import { takenUp } from "./requests.ts";

type Sweep = Extract<Task, { type: "sweep" }>;
type Watch = Extract<Task, { type: "watch" }>;

/** Heartbeats, and what a process does for the threads of others: look, take up, forget, and find who is not known. */
export function livenessSteps(state: State, world: World): Step<State>[] {
  return state.processes.flatMap((process, nth) => {
    if (process.status === "off") {
      return [goesOn(`${nameOf(nth)} starts`, withProcess(state, nth, { status: "up" }))];
    }
    if (process.status === "up" && process.paused) {
      return [goesOn(`${nameOf(nth)} wakes`, withProcess(state, nth, { paused: false }))];
    }
    if (!acts(process)) return [];
    return [
      ...(isBeatNoticed(state, nth, world) ? [beats(state, nth)] : []),
      ...(isSweeping(process)
        ? []
        : [...looks(state, nth, world), ...walks(state, nth, world), ...takesLost(state, nth, world)]),
      ...process.tasks.flatMap((task) => {
        if (task.type === "sweep") return [sweeps(state, nth, task, world)];
        return task.type === "watch" ? watches(state, nth, task) : [];
      }),
    ];
  });
}

/** One look at a time; threads that are being taken up belong to it. */
function isSweeping({ tasks }: Process): boolean {
  return tasks.some(
    (task) =>
      task.type === "sweep" ||
      (task.type === "ask" && task.request.type === "commit" && task.request.why === "take up"),
  );
}

/** Who has an entry, and is looked at by nobody, may beat as it likes: nothing depends on it but bars. */
function isBeatNoticed(state: State, process: number, world: World): boolean {
  if (world.rules.bars || state.replicas.beats !== null || !isKnown(state, process)) return true;
  return state.processes.some(({ tasks }) =>
    tasks.some((task) => task.type === "sweep" && task.of === process),
  );
}

/** Claims that were refused for a bar go out again on the new beat. */
function beats(state: State, process: number): Step<State> {
  const after = beaten(state, process);
  const { heard } = processAt(after, process);
  const tasks = processAt(after, process).tasks.map((task): Task => {
    if (task.type !== "ask" || !task.barred || task.request.type !== "commit") return task;
    return { ...task, barred: false, request: { ...task.request, heard } };
  });
  return goesOn(`${nameOf(process)} beats`, withProcess(after, process, { tasks }));
}

/** A beat is answered by who is silent; what they own is read then. */
function looks(state: State, process: number, world: World): Step<State>[] {
  return state.processes.flatMap((other, of) => {
    if (of === process || !isKnown(state, of) || !isSilent(other)) return [];
    const seen = beaten(state, process);
    const who = `${nameOf(process)} finds ${nameOf(of)} silent`;
    const owned = heldBy(state.shard, of);
    const taken = owned.flatMap(({ thread, fence }) => {
      const after = takenUp(seen, process, thread, fence);
      return after ? [goesOn(`${who}, and means to take up what ${fenceName(fence)} owns`, after)] : [];
    });
    const { mistakes } = world.rules;
    const isBlind = mistakes.includes("forgets without a look at what is owned");
    if (owned.length > 0 && !isBlind) return taken;
    const stage = isBlind || mistakes.includes("forgets without a bar") ? "gone" : "empty";
    const sweep: Sweep = { type: "sweep", stage, of, stamp: state.beats[of] ?? 0 };
    const what = isBlind ? "and looks no further" : "owning nothing";
    return [...taken, goesOn(`${who}, ${what}`, withTask(seen, process, null, sweep))];
  });
}

/** Reads who may own something here, after a beat that was answered by everybody who has an entry. */
function walks(state: State, process: number, world: World): Step<State>[] {
  if (!world.rules.lists) return [];
  return [...state.shard.listed.keys()].flatMap((of) => {
    if (of === process || isKnown(state, of) || !state.shard.listed[of]) return [];
    const what = `${nameOf(process)} reads that ${nameOf(of)} may own something, and has no heartbeat entry`;
    return [goesOn(what, withTask(state, process, null, { type: "sweep", stage: "met", of, stamp: 0 }))];
  });
}

/** Threads that the store says it owns, and that it knows nothing of. */
function takesLost(state: State, process: number, world: World): Step<State>[] {
  if (world.rules.mistakes.includes("does not look for what it has lost")) return [];
  const { tasks } = processAt(state, process);
  const isMeant = (fence: Fence) =>
    tasks.some((task) => "request" in task && task.request.type === "commit" && task.request.fence === fence);
  return heldBy(state.shard, process).flatMap(({ thread, fence }) => {
    const after = isMeant(fence) ? null : takenUp(state, process, thread, fence);
    const what = `${nameOf(process)} reads that ${fenceName(fence)} owns a thread, has lost it, and means to take it up`;
    return after ? [goesOn(what, after)] : [];
  });
}

function sweeps(state: State, process: number, task: Sweep, world: World): Step<State> {
  const { of, stage } = task;
  const done = withTask(state, process, task, null);
  switch (stage) {
    case "met":
      return goesOn(`${nameOf(process)} enters ${nameOf(of)} unless it has an entry`, entered(done, of));
    case "empty":
      return leaves(done, process, task, world.rules);
    case "gone":
      return forgets(done, process, task, world.rules);
  }
}

function leaves(state: State, process: number, task: Sweep, rules: Rules): Step<State> {
  const { of, stamp } = task;
  const shard = leave(state.shard, of, stamp, rules);
  const how = [...(rules.bars ? ["barred"] : []), ...(rules.lists ? ["off the list"] : [])].join(" and ");
  const what = `${nameOf(process)} wants ${nameOf(of)} ${how} before it is forgotten`;
  if (!shard) return goesOn(`${what}: refused, it owns something`, state);
  return goesOn(what, withTask({ ...state, shard }, process, null, { ...task, stage: "gone" }));
}

function forgets(state: State, process: number, { of, stamp }: Sweep, { mistakes }: Rules): Step<State> {
  const isAsSeen = state.beats[of] === stamp || mistakes.includes("forgets whoever has beaten since");
  const what = `${nameOf(process)} forgets ${nameOf(of)}`;
  if (!isAsSeen) return goesOn(`${what}: refused, it has beaten since`, state);
  return goesOn(what, { ...state, beats: state.beats.map((one, i) => (i === of ? 0 : one)) });
}

/** Whoever waits for a thread sees to it that its owner is known. */
function watches(state: State, process: number, task: Watch): Step<State>[] {
  const { fence, ended } = threadAt(state.shard, task.thread);
  if (fence === null || ended.includes(task.message)) {
    return [goesOn(`${nameOf(process)} waits no more`, withTask(state, process, task, null))];
  }
  const of = holderOf(fence);
  if (isKnown(state, of)) return [];
  return [
    goesOn(
      `${nameOf(process)} waits for ${nameOf(of)}, which has no entry, and enters it`,
      entered(state, of),
    ),
  ];
}

/** It has a heartbeat entry. */
function isKnown({ beats }: State, process: number): boolean {
  return (beats[process] ?? 0) > 0;
}

/** Gives a process a heartbeat entry where it has none: from now on it is found silent, or beats. */
function entered(state: State, process: number): State {
  if (isKnown(state, process)) return state;
  const sent = processAt(state, process).sent + 1;
  const beats = state.beats.map((stamp, i) => (i === process ? sent : stamp));
  return withProcess({ ...state, beats }, process, { sent });
}
