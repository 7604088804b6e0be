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
 * The host of a chart: returns what the machine decides for an event, as data.
 *
 * It performs nothing. The caller loads a snapshot, calls `decide`, commits if `changed`, and only then performs the
 * outcome, in order. So nothing that a client can see precedes the commit it depends on.
 *
 * `machine.transition(snapshot, event, scope)` with one prepared scope takes about 2 µs; xstate's own `transition()`
 * builds an actor per call and takes 15 µs (measured by bench/transitions.ts). The scope is a semi-public API of xstate:
 * only this file uses it, and xstate is pinned to an exact version.
 */
export interface Host<Machine extends AnyStateMachine, Line, Effect> {
  /** The snapshot of a machine that has seen no event. */
  initial(): SnapshotFrom<Machine>;
  decide(
    snapshot: SnapshotFrom<Machine>,
    event: EventFromLogic<Machine>,
  ): Decision<SnapshotFrom<Machine>, Line, Effect>;
  /** Writes state and context as text for the store, in the oldest version of the chart that can hold them. */
  freeze(snapshot: SnapshotFrom<Machine>): string;
  /**
   * Reads the store's text, of any version of the chart up to the present one. Throws NewerRecord for a newer version,
   * UnreadableRecord if it is no snapshot of this chart. `place` tells an operator where it was found.
   */
  thaw(text: string, place?: string): SnapshotFrom<Machine>;
}

export interface Decision<Snapshot, Line, Effect> {
  next: Snapshot;
  /** False: `next` is the same object as before, there is no effect, and nothing to save. */
  changed: boolean;
  /** Emitted lines and effects, in the chart's order. */
  outcome: ({ kind: "emitted"; line: Line } | { kind: "effect"; effect: Effect })[];
}

/** A chart, and how to read its snapshots back. */
export interface Chart<Machine extends AnyStateMachine> {
  machine: Machine;
  /** Written into the context of each snapshot. */
  version: number;
  /** From each version to the next, the first one from version 1 (machines/versions.ts). */
  steps: readonly ChartStep[];
  /** Parses a stored context; throws if it does not fit this chart. */
  readContext: (stored: unknown) => SnapshotFrom<Machine>["context"];
}

/** `Line`: what the chart emits. `Effect`: the closed union of its effects. */
export function createHost<Machine extends AnyStateMachine, Line, Effect>(
  chart: Chart<Machine>,
): Host<Machine, Line, Effect> {
  // xstate does not carry the types of emitted lines and effects to its scope; this cast restores them.
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

  /** A snapshot for each state, to be given a context: resolving a state's nodes costs more than parsing the text. */
  const resolved = new Map<string, AnyMachineSnapshot>();

  function resolve(value: StateValue, context: unknown): AnyMachineSnapshot {
    const name = JSON.stringify(value);
    // resolveState throws on an unknown state here and now, not later somewhere else.
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
      const hasEffect = decided.some(({ kind }) => kind === "effect");
      return { next, changed: next !== snapshot || hasEffect, outcome: decided };
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
