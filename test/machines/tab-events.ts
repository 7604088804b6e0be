import fc from "fast-check";
import { isActive, tabMachine } from "../../machines/tab.ts";
import type { TabEffect } from "../../machines/tab.ts";
import type { OwnRun, TabContext, TabEvent, Told } from "../../machines/tab-events.ts";
import { createHost } from "../../src/charts/host.ts";

/** The tab's chart as XState runs it. */
export const tabHost = createHost<typeof tabMachine, never, { type: TabEffect }>({
  machine: tabMachine,
  version: 1,
  steps: [],
  // A cast: only what freeze wrote is read.
  readContext: (stored) => stored as TabContext,
});

const message = fc.constantFrom("m1", "m2").map((clientMessageId) => ({ clientMessageId }));
const runId = fc.constantFrom("r1", "r2", null);
const threadId = fc.constantFrom("t1", "t2", null);
const callId = fc.constantFrom("c1", "c2");
const answer = callId.map((id) => ({ callId: id, tool: "cart", result: "One mug", isError: false }));
const ownRun: fc.Arbitrary<OwnRun> = fc.record(
  {
    phase: fc.constantFrom("talking" as const, "asking" as const, "executing" as const, "answered" as const),
    message,
    threadId,
    runId: fc.constantFrom("r1", "r2"),
    call: callId.map((id) => ({ callId: id, tool: "cart" })),
    body: answer,
  },
  { requiredKeys: ["phase", "message", "threadId"] },
);
const fault = fc
  .record({
    status: fc.constantFrom(0, 0, 0, 401, 403, 404, 409, 413, 422, 429, 503),
    waitSeconds: fc.constantFrom(0, 1, 40),
    isUnanswered: fc.boolean(),
    isInterrupted: fc.boolean(),
    isOriginRefused: fc.constantFrom(false, false, false, true),
    isOnline: fc.boolean(),
    hasMessage: fc.boolean(),
    hasReply: fc.boolean(),
    cause: fc.constant("why"),
  })
  .map((facts) => {
    if (facts.status === 0) return facts;
    return { ...facts, isUnanswered: facts.status >= 500, isInterrupted: false };
  });
const end = fc.constantFrom(
  { type: "done" as const, elapsedMs: 1 },
  { type: "error" as const, message: "The model does not answer" },
  { type: "none" as const },
);

/** Everything that an event may tell. */
const facts = fc.record({
  message,
  isRepeat: fc.boolean(),
  threadId,
  own: ownRun,
  ageMs: fc.constantFrom(0, 1_000, 1_000_000),
  runId,
  after: fc.constantFrom("history" as const, "feed" as const, null),
  fault,
  line: fc.constant({ type: "delta" as const, text: "Well" }),
  call: callId.map((id) => ({ type: "tool_call" as const, callId: id, tool: "cart", arguments: {} })),
  page: fc.constant("/shop"),
  waitsForForm: fc.boolean(),
  body: answer,
  end,
  mayRetry: fc.boolean(),
  isBack: fc.boolean(),
});

type Facts = typeof facts extends fc.Arbitrary<infer Each> ? Each : never;

/** What each event tells. */
const TELLS: { [Type in TabEvent["type"]]: Exclude<keyof Extract<TabEvent, { type: Type }>, "type">[] } = {
  "user.said": ["message", "isRepeat", "threadId"],
  "run.found": ["own", "message", "isRepeat", "threadId", "ageMs"],
  "run.seen": ["runId", "after"],
  "lock.won": [],
  "lock.lost": [],
  "thread.known": ["threadId"],
  "thread.loaded": [],
  "thread.lost": [],
  "thread.failed": ["fault"],
  "message.accepted": [],
  "message.failed": ["fault"],
  "stream.opened": ["runId"],
  "stream.cut": ["fault"],
  "reply.grew": ["line"],
  "tool.called": ["call"],
  "tool.started": ["page", "waitsForForm"],
  "tool.returned": ["body"],
  "tool.answered": ["body"],
  "page.settled": ["body"],
  "run.ended": ["end", "mayRetry"],
  "reply.loaded": ["end", "mayRetry"],
  "pause.over": ["isBack"],
  "user.stopped": [],
  "stop.due": [],
  "run.left": [],
  "work.failed": ["fault"],
  "load.failed": ["fault"],
  "history.shown": [],
  "origin.refused": [],
  "connection.changed": [],
  "problem.solved": [],
};

// A cast: the keys of a literal.
const TYPES = Object.keys(TELLS) as TabEvent["type"][];

function eventOf(type: TabEvent["type"], given: Facts): TabEvent {
  const known = type === "run.found" ? { ...given, message: given.own.message, isRepeat: true } : given;
  const tells: readonly (keyof Facts)[] = TELLS[type];
  // A cast: each type with what it tells.
  return { type, ...Object.fromEntries(tells.map((name) => [name, known[name]])) } as TabEvent;
}

/** What happens to a tab: any event, one that leads on where it is (most often), or a page that takes the page's place. */
export type Happening =
  | { kind: "any"; event: TabEvent }
  | { kind: "likely"; nth: number; facts: Facts }
  | { kind: "page"; ageMs: number };

export const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...TYPES), facts)
      .map(([type, given]) => ({ kind: "any" as const, event: eventOf(type, given) })),
  },
  {
    weight: 12,
    arbitrary: fc
      .tuple(fc.nat(100), facts)
      .map(([nth, given]) => ({ kind: "likely" as const, nth, facts: given })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 0, 1_000_000).map((ageMs) => ({ kind: "page" as const, ageMs })),
  },
);

/** What ends a run early is likely everywhere, and comes seldom. */
const ENDING = ["user.stopped", "stop.due", "run.left", "work.failed", "load.failed"];

/** The events that lead on from a state. */
function leadingOn(path: string): TabEvent["type"][] {
  const names = path.split(".");
  const found = names.flatMap((_, at) => {
    const node = names.slice(0, at + 1).reduce<typeof tabMachine.root>(
      // A cast: xstate types the states of any machine alike.
      (state, name) => state.states[name] as typeof tabMachine.root,
      tabMachine.root,
    );
    // A cast: a chart has transitions for its own events alone.
    return [...node.transitions.keys()] as TabEvent["type"][];
  });
  const leading = found.filter((type) => !ENDING.includes(type));
  return leading.length > 0 ? leading : found;
}

export interface Step {
  /** null: another page took its place, and has nothing but what was saved. */
  event: TabEvent | null;
  before: { path: string; context: TabContext };
  after: { path: string; context: TabContext };
  effects: TabEffect[];
  /** What is saved afterwards. */
  saved: OwnRun | null;
}

/** Plays what happens to a tab, over all its pages. */
export function play(happenings: readonly Happening[]): Step[] {
  const steps: Step[] = [];
  let snapshot = tabHost.initial();
  let saved: OwnRun | null = null;

  function take(event: TabEvent): void {
    const before = { path: pathOf(snapshot.value), context: snapshot.context };
    // It tells what is saved.
    if (event.type === "run.found" && !isActive(before.path)) saved = event.own;
    // A cast: the chart reads what the events of its branches tell.
    const { next, outcome } = tabHost.decide(snapshot, event as Told);
    const effects = outcome.flatMap((one) => (one.kind === "effect" ? [one.effect.type] : []));
    for (const effect of effects) {
      const { own } = next.context;
      if (effect === "save") saved = own ?? saved;
      if (effect === "dropFound" || (effect === "dropSaved" && own !== null)) saved = null;
    }
    snapshot = next;
    steps.push({ event, before, after: { path: pathOf(next.value), context: next.context }, effects, saved });
  }

  for (const happens of happenings) {
    if (happens.kind === "any") take(happens.event);
    else if (happens.kind === "likely") {
      const types = leadingOn(pathOf(snapshot.value));
      const type = types[happens.nth % types.length];
      if (type !== undefined) take(eventOf(type, happens.facts));
    } else {
      const before = { path: pathOf(snapshot.value), context: snapshot.context };
      snapshot = tabHost.initial();
      const after = { path: pathOf(snapshot.value), context: snapshot.context };
      steps.push({ event: null, before, after, effects: [], saved });
      if (saved !== null) take(found(saved, happens.ageMs));
    }
  }
  return steps;
}

function found(own: OwnRun, ageMs: number): TabEvent {
  const { message: said, threadId: ofRun } = own;
  return { type: "run.found", own, message: said, isRepeat: true, threadId: ofRun, ageMs };
}

/** The innermost state by its path. */
export function pathOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Object.entries(Object(value) as Record<string, unknown>)
    .map(([name, inner]) => `${name}.${pathOf(inner)}`)
    .join();
}

/** Long ones too: what a tab does after a fifth cut is to be seen. */
export const happenings = fc.array(happening, { maxLength: 60, size: "max" });
