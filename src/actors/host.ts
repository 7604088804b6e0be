import { createActor } from "xstate";
import type { AnyMachineSnapshot, AnyStateMachine, StateValue, EventFromLogic, SnapshotFrom } from "xstate";

/**
 * The host of the charts: what a machine decides for an event, as data.
 *
 * It performs nothing. The caller loads a snapshot, asks `decide`, commits when `changed` says so, and only then
 * performs what came out, in order. So nothing that a client can see precedes the commit it depends on.
 *
 * `machine.transition(snapshot, event, scope)` with one prepared scope costs about 2 µs where xstate's own
 * `transition()` builds an actor per call and costs 15 µs (bench/transitions.ts watches it). The scope is xstate's
 * semi-public half: it stays inside this file, and xstate is pinned to an exact version.
 */
export interface Effect {
  type: string;
  params: unknown;
}

export interface Decision<Snapshot, Emitted> {
  next: Snapshot;
  /** False: the snapshot is the very same object, and there is nothing to save. */
  changed: boolean;
  /** Emitted events and effects in the order in which the chart named them. */
  outcome: ({ kind: "emitted"; line: Emitted } | { kind: "effect"; effect: Effect })[];
}

export interface Host<Machine extends AnyStateMachine, Emitted> {
  /** The snapshot of a machine that has seen no event. */
  initial(): SnapshotFrom<Machine>;
  decide(
    snapshot: SnapshotFrom<Machine>,
    event: EventFromLogic<Machine>,
  ): Decision<SnapshotFrom<Machine>, Emitted>;
  /** To text for the store: the state and the context, nothing else. */
  freeze(snapshot: SnapshotFrom<Machine>): string;
  /** From the store's text; throws where the text is of another chart version or names no state of this chart. */
  thaw(text: string): SnapshotFrom<Machine>;
}

interface ExecutedAction {
  type: string;
  params: unknown;
}

export function createHost<Machine extends AnyStateMachine, Emitted>(
  machine: Machine,
  version: number,
): Host<Machine, Emitted> {
  type Snapshot = SnapshotFrom<Machine>;
  let outcome: Decision<Snapshot, Emitted>["outcome"] = [];

  const self = createActor(machine);
  const scope = {
    self,
    system: self.system,
    id: "",
    sessionId: "",
    logger() {},
    defer() {},
    emit() {},
    stopChild() {},
    actionExecutor(action: ExecutedAction) {
      if (action.type === "xstate.emit") {
        outcome.push({ kind: "emitted", line: (action.params as { event: Emitted }).event });
      } else {
        outcome.push({ kind: "effect", effect: { type: action.type, params: action.params } });
      }
    },
  } as unknown as Parameters<Machine["transition"]>[2];

  /** Snapshots by state, to be filled with a context: resolving a state's nodes costs more than reading the text. */
  const resolved = new Map<string, AnyMachineSnapshot>();

  function resolve(value: StateValue, context: unknown): AnyMachineSnapshot {
    const name = JSON.stringify(value);
    // resolveState throws on a state that the chart does not have, here and now, instead of later and elsewhere.
    const known =
      resolved.get(name) ??
      machine.resolveState({ value, context } as Parameters<Machine["resolveState"]>[0]);
    resolved.set(name, known);
    return { ...known, context };
  }

  const initial = machine.getInitialSnapshot(scope) as Snapshot;
  outcome = [];

  return {
    initial: () => initial,

    decide(snapshot, event) {
      outcome = [];
      const next = machine.transition(snapshot, event, scope) as Snapshot;
      const decided = outcome;
      outcome = [];
      return { next, changed: next !== snapshot, outcome: decided };
    },

    freeze(snapshot) {
      const { value, context } = snapshot as AnyMachineSnapshot;
      return JSON.stringify({ value, context });
    },

    thaw(text) {
      const { value, context } = JSON.parse(text) as { value: StateValue; context: { version?: unknown } };
      if (context.version !== version) {
        throw new Error(
          `Cannot read a snapshot: ${machine.id} chart version ${version}, got ${String(context.version)}`,
        );
      }
      return resolve(value, context) as Snapshot;
    },
  };
}
