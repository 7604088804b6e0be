/**
 * The versions of the charts: how a snapshot of each version becomes one of the next.
 *
 * A snapshot carries the version of its chart in its context. Whoever changes what a snapshot can be (a state, a field of
 * the context) adds a step here and raises the chart's number: the tests compare the chart with what is written down for
 * that number (test/versions/shapes.json). The steps are pure, small, and never changed once they are released.
 */
export interface FrozenChart {
  value: unknown;
  context: Record<string, unknown>;
}

export interface ChartStep {
  /** From the version before to this one. The context's `version` is set by who applies it. */
  up: (older: FrozenChart) => FrozenChart;
  /** Back; null where the snapshot uses what only this version knows. Then older instances leave the thread alone. */
  down?: (newer: FrozenChart) => FrozenChart | null;
}

/** Version 2: a person may answer. A thread in which nobody ever asked for one is a thread of version 1. */
const withPeople: ChartStep = {
  up: ({ value, context }) => ({
    value,
    context: { ...context, epoch: 0, answererSinceMs: null, person: null, handedBack: null },
  }),
  down({ value, context: { epoch, answererSinceMs: _, person: __, handedBack: ___, ...context } }) {
    return epoch === 0 ? { value, context } : null;
  },
};

/** The first one leads from version 1, which is 0.1.0's, to version 2. */
export const threadSteps: readonly ChartStep[] = [withPeople];

export const visitorSteps: readonly ChartStep[] = [];
