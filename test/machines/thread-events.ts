import fc from "fast-check";
import type { ThreadEvent } from "../../machines/thread.ts";
import { threadHost } from "../../src/charts/charts.ts";
import type { ThreadSnapshot } from "../../src/charts/charts.ts";

const runId = fc.constantFrom("r1", "r2");
const callId = fc.constantFrom("c1", "c2", "c3");
const tool = fc.constantFrom("search", "cart", "clock");
const atMs = fc.integer({ min: 1_000, max: 3_000 });
const name = fc.constantFrom("ann", "ben");
const epoch = fc.nat(5);
const usage = fc.option(fc.record({ input: fc.nat(100), output: fc.nat(100) }), { nil: null });

const call = fc.oneof(
  fc.record({
    callId,
    kind: fc.constant("server" as const),
    tool,
    arguments: fc.constant({ q: "mug" }),
    progress: fc.constant("Looking"),
    repeatable: fc.constant(true),
    readOnly: fc.constant(true as const),
  }),
  fc.record({
    callId,
    kind: fc.constantFrom("page" as const, "server" as const),
    tool,
    arguments: fc.constant({ q: "mug" }),
    progress: fc.constant("Looking"),
    repeatable: fc.boolean(),
  }),
  fc.record({
    callId,
    kind: fc.constant("server" as const),
    tool,
    arguments: fc.constant({ q: "mug" }),
    progress: fc.constant("Cancelling"),
    repeatable: fc.boolean(),
    confirm: fc.constantFrom("visitor" as const, "operator" as const),
  }),
  fc.record({ callId, kind: fc.constant("refused" as const), reason: fc.constant("No such tool") }),
);

/** Any event of the thread's chart, likely or not in any state. */
export const threadEvent: fc.Arbitrary<ThreadEvent> = fc.oneof(
  fc.record({
    type: fc.constant("user.said" as const),
    runId,
    atMs,
    limits: fc.constant({ toolCalls: 3, toolResultMs: 500 }),
  }),
  fc.record({ type: fc.constant("agent.wrote" as const), text: fc.string({ minLength: 1 }) }),
  fc.record({
    type: fc.constant("agent.called" as const),
    calls: fc.array(call, { minLength: 1, maxLength: 4 }),
    usage,
    atMs,
  }),
  fc.record({ type: fc.constant("agent.finished" as const), usage, atMs }),
  fc.record({ type: fc.constant("agent.gaveUp" as const), reason: fc.constant("Sold out"), usage, atMs }),
  fc.record({
    type: fc.constant("tool.returned" as const),
    callId,
    text: fc.string(),
    isError: fc.boolean(),
    atMs,
  }),
  fc.record({
    type: fc.constant("page.answered" as const),
    callId,
    tool,
    text: fc.string(),
    isError: fc.boolean(),
    atMs,
  }),
  fc.record({ type: fc.constant("call.expired" as const), atMs }),
  fc.record({ type: fc.constant("call.decided" as const), callId, approved: fc.boolean(), atMs }),
  fc.record({ type: fc.constant("approval.expired" as const), atMs }),
  fc.record({ type: fc.constant("run.steered" as const), runId }),
  fc.record(
    {
      type: fc.constant("reply.again" as const),
      runId,
      atMs,
      limits: fc.constant({ toolCalls: 3, toolResultMs: 500 }),
      isGone: fc.constant(true as const),
    },
    { requiredKeys: ["type", "runId", "atMs", "limits"] },
  ),
  fc.record({
    type: fc.constant("service.instructed" as const),
    runId,
    atMs,
    limits: fc.constant({ toolCalls: 3, toolResultMs: 500 }),
  }),
  fc.record({
    type: fc.constant("run.failed" as const),
    runId,
    message: fc.constant("It broke"),
    code: fc.constant(null),
    usage,
  }),
  fc.record({ type: fc.constant("run.cancelled" as const), runId, usage }),
  fc.record({ type: fc.constant("run.taken" as const), atMs }),
  fc.record({
    type: fc.constant("agent.handedOff" as const),
    reason: fc.constantFrom(null, "Wants a refund"),
    summary: fc.constant("A mug broke"),
    message: fc.constant("Somebody will be with you"),
    waitMs: fc.constant(600),
    usage,
    atMs,
  }),
  fc.record({
    type: fc.constant("person.asked" as const),
    by: fc.constantFrom("visitor" as const, "transport" as const),
    reason: fc.constant(null),
    waitMs: fc.constant(600),
    usage,
    atMs,
  }),
  fc.record({ type: fc.constant("person.unasked" as const), atMs }),
  fc.record({ type: fc.constant("wait.expired" as const), unavailable: fc.constant("Nobody is here"), atMs }),
  fc.record({
    type: fc.constant("person.took" as const),
    name,
    takeId: fc.constant("t1"),
    epoch,
    answerMs: fc.constant(300),
    usage,
    atMs,
  }),
  fc.record({ type: fc.constant("service.said" as const), text: fc.constant("It has arrived") }),
  fc.record({ type: fc.constant("person.said" as const), name, epoch }),
  fc.record({
    type: fc.constant("person.queued" as const),
    queue: fc.constantFrom("returns", "sales"),
    epoch,
    waitMs: fc.constant(600),
    atMs,
  }),
  fc.record({
    type: fc.constant("answer.expired" as const),
    unanswered: fc.constant("Nobody answered"),
    waitMs: fc.constant(600),
    atMs,
  }),
  fc.record({
    type: fc.constant("person.returned" as const),
    name,
    epoch,
    note: fc.constantFrom(null, "Refunded"),
    atMs,
  }),
  fc.record({ type: fc.constant("person.closed" as const), name, epoch, atMs }),
);

/** Takes a chart through events: what came out of each, and where it ended. */
export function play(events: readonly ThreadEvent[], from: ThreadSnapshot = threadHost.initial()) {
  let snapshot = from;
  const decisions = events.map((event) => {
    const before = snapshot;
    const decision = threadHost.decide(before, event);
    snapshot = decision.next;
    return { event, before, ...decision };
  });
  const lines = decisions.flatMap(({ outcome }) =>
    outcome.flatMap((part) => (part.kind === "emitted" ? [part.line] : [])),
  );
  const effects = decisions.flatMap(({ outcome }) =>
    outcome.flatMap((part) => (part.kind === "effect" ? [part.effect] : [])),
  );
  return { decisions, lines, effects, snapshot };
}
