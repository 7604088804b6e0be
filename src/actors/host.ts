import { createActor } from "xstate";
import type {
  AnyActorScope,
  AnyMachineSnapshot,
  AnyStateMachine,
  EventFromLogic,
  EventObject,
  SnapshotFrom,
  StateValue,
} from "xstate";
import type { ChartStep, FrozenChart } from "../../machines/versions.ts";
import { isVersion, versionsOf } from "../domain/versions.ts";
import { messageOf } from "../errors.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";

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
export interface Host<Machine extends AnyStateMachine, Line, Effect> {
  /** The snapshot of a machine that has seen no event. */
  initial(): SnapshotFrom<Machine>;
  decide(
    snapshot: SnapshotFrom<Machine>,
    event: EventFromLogic<Machine>,
  ): Decision<SnapshotFrom<Machine>, Line, Effect>;
  /** To text for the store: the state and the context, in the oldest version of the chart that has all of it. */
  freeze(snapshot: SnapshotFrom<Machine>): string;
  /**
   * From the store's text, of any version of the chart up to the present one. Throws NewerRecord where it is of a newer
   * one, UnreadableRecord where it is no snapshot of this chart. `place` tells an operator where it is.
   */
  thaw(text: string, place?: string): SnapshotFrom<Machine>;
}

export interface Decision<Snapshot, Line, Effect> {
  next: Snapshot;
  /** False: the snapshot is the very same object, and there is nothing to save. */
  changed: boolean;
  /** Emitted lines and effects in the order in which the chart named them. */
  outcome: ({ kind: "emitted"; line: Line } | { kind: "effect"; effect: Effect })[];
}

/** A chart, with what it takes to read its snapshots back. */
export interface Chart<Machine extends AnyStateMachine> {
  machine: Machine;
  /** Written into the context of each snapshot. */
  version: number;
  /** From each version to the next, the first one from version 1 (machines/versions.ts). */
  steps: readonly ChartStep[];
  /** The context as it was stored; throws where it is none of this chart. */
  readContext: (stored: unknown) => SnapshotFrom<Machine>["context"];
}

/** `Line` and `Effect`: what the chart emits, and the closed union of its effects. */
export function createHost<Machine extends AnyStateMachine, Line, Effect>(
  chart: Chart<Machine>,
): Host<Machine, Line, Effect> {
  // xstate does not carry the types of emitted lines and effects to its scope: this is where they are given back.
  return untypedHost(chart) as unknown as Host<Machine, Line, Effect>;
}

function untypedHost({ machine, version, steps, readContext }: Chart<AnyStateMachine>) {
  const versions = versionsOf<FrozenChart>(steps);
  if (versions.present !== version) {
    throw new Error(`Cannot host the ${machine.id} chart: its version ${version} needs ${version - 1} steps`);
  }

  let outcome: ({ kind: "emitted"; line: unknown } | { kind: "effect"; effect: unknown })[] = [];

  const self = createActor(machine);
  const scope: AnyActorScope = {
    self,
    system: self.system,
    id: "",
    sessionId: "",
    logger() {},
    defer() {},
    emit() {},
    stopChild() {},
    actionExecutor({ type, params }) {
      const emits =
        type === "xstate.emit" && typeof params === "object" && params !== null && "event" in params;
      outcome.push(
        emits ? { kind: "emitted", line: params.event } : { kind: "effect", effect: { type, params } },
      );
    },
  };

  /** Snapshots by state, to be filled with a context: resolving a state's nodes costs more than reading the text. */
  const resolved = new Map<string, AnyMachineSnapshot>();

  function resolve(value: StateValue, context: unknown): AnyMachineSnapshot {
    const name = JSON.stringify(value);
    // resolveState throws on a state that the chart does not have, here and now, instead of later and elsewhere.
    const known = resolved.get(name) ?? machine.resolveState({ value, context });
    resolved.set(name, known);
    return { ...known, context };
  }

  const initial = machine.getInitialSnapshot(scope);
  outcome = [];

  return {
    initial: () => initial,

    decide(snapshot: AnyMachineSnapshot, event: EventObject) {
      outcome = [];
      const next = machine.transition(snapshot, event, scope);
      const decided = outcome;
      outcome = [];
      return { next, changed: next !== snapshot, outcome: decided };
    },

    freeze({ value, context }: AnyMachineSnapshot) {
      if (version === 1) return JSON.stringify({ value, context });
      const { form, version: written } = versions.oldest({ value, context });
      return JSON.stringify({ value: form.value, context: { ...form.context, version: written } });
    },

    thaw(text: string, place = "rest") {
      const kind = `${machine.id} chart's snapshot`;
      try {
        const frozen = readFrozen(text);
        const from = frozen.context["version"];
        if (!isVersion(from)) throw new Error("it has no version");
        if (from > version) throw new NewerRecord(kind, place, from);
        return restored(from === version ? frozen : versions.upgrade(frozen, from));
      } catch (error) {
        if (error instanceof NewerRecord) throw error;
        throw new UnreadableRecord(kind, place, messageOf(error).replaceAll("\n", " "));
      }
    },
  };

  function restored({ value, context }: FrozenChart): AnyMachineSnapshot {
    if (!isStateValue(value)) throw new Error("it has no state");
    return resolve(value, readContext({ ...context, version }));
  }
}

function readFrozen(text: string): FrozenChart {
  const frozen: unknown = JSON.parse(text);
  if (isRecord(frozen) && isRecord(frozen["context"])) {
    return { value: frozen["value"], context: frozen["context"] };
  }
  throw new Error("it has no context");
}

function isStateValue(value: unknown): value is StateValue {
  return typeof value === "string" || (isRecord(value) && Object.values(value).every(isStateValue));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
