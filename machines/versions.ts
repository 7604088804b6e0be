/**
 * The versions of the charts: how a snapshot of each version is upgraded to the next.
 *
 * A snapshot carries the version of its chart in its context. A change to the states or to the context's fields needs a
 * step here and a higher chart version: the tests compare the chart with the shape recorded for its version
 * (test/versions/shapes.json). Steps are pure and small, and never change once released.
 */
export interface FrozenChart {
  value: unknown;
  context: Record<string, unknown>;
}

export interface ChartStep {
  /** From the version before to this one. The caller sets the context's `version`. */
  up: (older: FrozenChart) => FrozenChart;
  /** Back; null if the snapshot uses something that only this version has: older instances then leave the thread alone. */
  down?: (newer: FrozenChart) => FrozenChart | null;
}

/** Version 2: a person may answer. A thread that never involved a person can still be written as version 1. */
const withPeople: ChartStep = {
  up: ({ value, context }) => ({
    value,
    context: { ...context, epoch: 0, answererSinceMs: null, person: null, handedBack: null },
  }),
  down({ value, context: { epoch, answererSinceMs: _, person: __, handedBack: ___, ...context } }) {
    return epoch === 0 ? { value, context } : null;
  },
};

/** Version 3: several calls may be under way. A thread without such calls can still be written as version 2. */
const withCallsSideBySide: ChartStep = {
  up: (older) => older,
  down: (newer) => (hasCallsSideBySide(newer) ? null : newer),
};

function hasCallsSideBySide(frozen: FrozenChart): boolean {
  return callsOf(frozen).some((call) => "use" in call);
}

function callsOf({ context: { run } }: FrozenChart): object[] {
  if (typeof run !== "object" || run === null || !("calls" in run) || !Array.isArray(run.calls)) return [];
  return run.calls.filter((call: unknown) => typeof call === "object" && call !== null);
}

/**
 * Version 4: a call may wait for approval, a message for the next turn, and a run may answer nobody's message. A thread
 * without any of it can still be written as version 3.
 */
const withApproval: ChartStep = {
  up: (older) => older,
  down: (newer) => (waitsForApproval(newer) || isSteeredOrUnasked(newer) ? null : newer),
};

function waitsForApproval(frozen: FrozenChart): boolean {
  return callsOf(frozen).some((call) => "confirm" in call);
}

function isSteeredOrUnasked({ context: { run } }: FrozenChart): boolean {
  return typeof run === "object" && run !== null && ("steered" in run || "unasked" in run);
}

/** The first step leads from version 1 (release 0.1.0) to version 2. */
export const threadSteps: readonly ChartStep[] = [withPeople, withCallsSideBySide, withApproval];

export const visitorSteps: readonly ChartStep[] = [];
