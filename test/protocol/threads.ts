import type { Step } from "./explore.ts";
import type { World } from "./rules.ts";
import { asked, cancelled, nextSave, requestName, resumed } from "./requests.ts";
import { serve } from "./store-steps.ts";
import { threadOf } from "./state.ts";
import type { Answer, Commit, Request, State, Task } from "./state.ts";
import {
  acts,
  goesOn,
  including,
  may,
  messageName,
  nameOf,
  runName,
  withClients,
  withTask,
} from "./steps.ts";

/** What clients ask of processes, and how requests are served and answered. */
export function threadSteps(state: State, world: World): Step<State>[] {
  return state.processes.flatMap((process, nth) => {
    // Claims stand on a beat that was answered, where there are bars.
    if (!acts(process) || (world.rules.bars && process.heard === 0)) return [];
    return [
      ...says(state, nth, world),
      ...resumes(state, nth),
      ...cancels(state, nth),
      ...process.tasks.flatMap((task) => serves(state, nth, task, world)),
    ];
  });
}

function says(state: State, process: number, { bounds }: World): Step<State>[] {
  const message = state.clients.said;
  if (message >= bounds.messages) return [];
  const after = asked(withClients(state, { said: message + 1 }), process, message, bounds);
  return [may(`a client says ${messageName(message)} at ${nameOf(process)}, which reads the thread`, after)];
}

/** The page answers its call, or the call expires. */
function resumes(state: State, process: number): Step<State>[] {
  return state.shard.threads.flatMap(({ fence, run }, thread) => {
    if (fence !== null || run?.phase !== "awaiting" || asksAlready(state, process, thread)) return [];
    const what = `${nameOf(process)} gets what the pending call of ${messageName(run.message)} was answered`;
    return [goesOn(what, resumed(state, process, thread, run))];
  });
}

function asksAlready({ processes }: State, process: number, thread: number): boolean {
  const isIt = (request: Request) =>
    request.type === "commit" && request.why === "resume" && request.thread === thread;
  return processes[process]?.tasks.some((task) => task.type === "ask" && isIt(task.request)) === true;
}

/** By another process than the holder, which did not obey or is not heard of. */
function cancels(state: State, process: number): Step<State>[] {
  const { faults, shard } = state;
  if (faults.cancel === 0) return [];
  const spent = { ...state, faults: { ...faults, cancel: faults.cancel - 1 } };
  return shard.threads.flatMap(({ run }, thread) => {
    if (run === null) return [];
    const what = `a client cancels ${messageName(run.message)} at ${nameOf(process)}, which reads the thread`;
    return [may(what, cancelled(spent, process, thread, run))];
  });
}

/** A request arrives at the store, and its answer at the process; or the answer is lost; or the request is late. */
function serves(state: State, process: number, task: Task, world: World): Step<State>[] {
  if (task.type !== "ask" && task.type !== "live") return [];
  const { request } = task;
  const { faults, replicas } = state;
  const { shard, answer, broken } = serve(state.shard, request, world.rules);
  const what = requestName(request);
  const done = { ...state, shard, served: { request, answer } };
  const isConfirmed = world.bounds.durability === "local" || replicas.shard === null;
  // A save is sent again until it is answered; a claim is given up.
  const isRepeated = task.type === "live";
  const steps: Step<State>[] = [];
  if (isConfirmed) {
    const { state: after, told } = answered(done, process, task, answer, world);
    steps.push(goesOn(`${what}: ${told}`, after, broken));
  }
  if (faults.lost > 0 && shard !== state.shard) {
    const sender = isRepeated ? done : withTask(done, process, task, null);
    const after = { ...sender, faults: { ...faults, lost: faults.lost - 1 } };
    const lack = isConfirmed ? "its answer is lost" : "no replica confirms it";
    steps.push(may(`${what} is done, and ${lack}`, after, broken));
  }
  if (faults.late > 0) {
    const sender = isRepeated ? state : withTask(state, process, task, null);
    const after = { ...sender, late: [...state.late, request], faults: { ...faults, late: faults.late - 1 } };
    const then = isRepeated ? "it is sent again" : "its sender gives up";
    steps.push(may(`${what} is late, and ${then}`, after));
  }
  return steps;
}

interface Told {
  state: State;
  told: string;
}

type Asking = Extract<Task, { type: "ask" | "live" }>;
type Committed = Extract<Answer, { type: "committed" }>;

function answered(state: State, process: number, task: Asking, answer: Answer, world: World): Told {
  const { type, request } = task;
  const ended = withTask(state, process, task, null);
  switch (answer.type) {
    case "committed":
      if (request.type === "wait") throw new Error("Cannot commit what only waits");
      return goneOn(ended, process, request, answer, world);
    case "waiting":
      return { state: acknowledged(ended, process, request, world), told: "it waits in the queue" };
    case "barred":
      if (type === "live") throw new Error("Cannot bar a holder");
      return { state: withTask(state, process, task, { ...task, barred: true }), told: "barred" };
    case "free":
    case "changed":
    case "fenced": {
      const message = messageOf(request);
      if (message === null) return { state: ended, told: `${answer.type}; gives up` };
      const again = asked(ended, process, message, world.bounds);
      return { state: again, told: `${answer.type}; reads the thread again` };
    }
  }
}

/** The message that a client waits to know kept. */
function messageOf(request: Request): number | null {
  return request.type === "wait" ? request.message : request.orWait;
}

/** A commit was done: clients are told, and the holder goes on, or has released the thread. */
function goneOn(state: State, process: number, done: Commit, { rev, next }: Committed, world: World): Told {
  const save = nextSave(done, rev, next, world.bounds);
  const heard = done.why === "end" ? toldEnd(state, done.ends, world) : kept(state, done.orWait);
  return {
    state: save ? withTask(heard, process, null, { type: "live", request: save }) : heard,
    told: `revision ${rev}, ${runName(done.run)}, ${save ? "held" : "released"}`,
  };
}

/** 200: the client knows that its message is kept. */
function kept(state: State, message: number | null): State {
  if (message === null) return state;
  return withClients(state, { acked: including(state.clients.acked, message) });
}

function acknowledged(state: State, process: number, request: Request, world: World): State {
  const message = messageOf(request);
  const after = kept(state, message);
  if (message === null || !world.rules.watches) return after;
  return withTask(after, process, null, { type: "watch", thread: threadOf(message, world.bounds), message });
}

function toldEnd(state: State, message: number | null, { bounds }: World): State {
  const { told } = state.clients;
  const times = (one: number) => (told[one] ?? 0) + (one === message ? 1 : 0);
  return withClients(state, { told: Array.from({ length: bounds.messages }, (_, one) => times(one)) });
}
