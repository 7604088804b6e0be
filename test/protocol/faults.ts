import type { Step } from "./explore.ts";
import type { World } from "./rules.ts";
import { messagesIn, serve } from "./store-steps.ts";
import type { Clients, Faults, Shard, State } from "./state.ts";
import { acts, goesOn, including, may, messageName, nameOf, withClients, withProcess } from "./steps.ts";
import { requestName } from "./requests.ts";

/** What may go wrong, each as often as the bounds allow; and late requests, which arrive or never do. */
export function faultSteps(state: State, world: World): Step<State>[] {
  return [...processFaults(state), ...lateArrivals(state, world), ...failovers(state, world)];
}

function spent(state: State, fault: keyof Faults): State {
  return { ...state, faults: { ...state.faults, [fault]: state.faults[fault] - 1 } };
}

function processFaults(state: State): Step<State>[] {
  const steps: Step<State>[] = [];
  for (const [nth, process] of state.processes.entries()) {
    const name = nameOf(nth);
    if (process.status === "up" && state.faults.crash > 0) {
      const down = withProcess(spent(state, "crash"), nth, { status: "down", paused: false, tasks: [] });
      steps.push(may(`${name} dies`, down));
      for (const task of process.tasks) {
        if (state.faults.late === 0 || (task.type !== "ask" && task.type !== "live")) continue;
        const after = { ...spent(down, "late"), late: [...state.late, task.request] };
        steps.push(may(`${name} dies, with ${requestName(task.request)} on its way`, after));
      }
    }
    if (acts(process) && state.faults.pause > 0) {
      steps.push(
        may(`${name} is stopped for a while`, withProcess(spent(state, "pause"), nth, { paused: true })),
      );
    }
  }
  return steps;
}

function lateArrivals(state: State, world: World): Step<State>[] {
  return state.late.flatMap((request) => {
    const late = state.late.filter((one) => one !== request);
    const { rules } = world;
    const { shard, answer, broken } = serve(state.shard, request, rules);
    const what = requestName(request);
    return [
      goesOn(`${what} arrives late`, { ...state, late, shard, served: { request, answer } }, broken),
      goesOn(`${what} never arrives`, { ...state, late }),
    ];
  });
}

/** A replica that lags has a slot as it was when the lag began; in a failover that is all that is left of it. */
function failovers(state: State, { bounds }: World): Step<State>[] {
  const { shard, replicas, beats, faults } = state;
  const steps: Step<State>[] = [];
  if (replicas.shard === null && faults.threadFailover > 0) {
    const after = { ...spent(state, "threadFailover"), replicas: { ...replicas, shard } };
    steps.push(may("the replica of the threads begins to lag", after));
  }
  if (replicas.shard !== null) {
    const before = { ...state, shard: replicas.shard, replicas: { ...replicas, shard: null } };
    const undone = undoneBy(state, replicas.shard);
    steps.push(
      may(
        `the slot of the threads fails over to its replica${undone.told}`,
        withClients(before, undone.clients),
      ),
    );
    if (bounds.durability === "replica") {
      steps.push(
        goesOn("the replica of the threads has everything again", {
          ...state,
          replicas: { ...replicas, shard: null },
        }),
      );
    }
  }
  if (replicas.beats === null && faults.beatFailover > 0) {
    const after = { ...spent(state, "beatFailover"), replicas: { ...replicas, beats } };
    steps.push(may("the replica of the heartbeats begins to lag", after));
  }
  if (replicas.beats !== null) {
    const after = { ...state, beats: replicas.beats, replicas: { ...replicas, beats: null } };
    steps.push(may("the slot of the heartbeats fails over to its replica", after));
  }
  return steps;
}

function undoneBy({ shard, clients }: State, replica: Shard): { clients: Partial<Clients>; told: string } {
  const kept = messagesIn(replica);
  const ended = replica.threads.flatMap((thread) => thread.ended);
  const lost = messagesIn(shard).filter((message) => !kept.includes(message));
  const undone = shard.threads
    .flatMap((thread) => thread.ended)
    .filter((message) => !ended.includes(message));
  const most = Math.max(-1, ...undone, ...clients.undone.keys());
  return {
    clients: {
      lost: lost.reduce(including, clients.lost),
      undone: Array.from(
        { length: most + 1 },
        (_, i) => (clients.undone[i] ?? 0) + (undone.includes(i) ? 1 : 0),
      ),
    },
    told: lost.length === 0 ? "" : `, and ${lost.map(messageName).join(", ")} is lost`,
  };
}
