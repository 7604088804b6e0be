// For src/threads/hold/plan-change.ts
import { expect, test } from "vitest";
import type { ThreadEvent } from "../../../machines/thread.ts";
import { threadHost } from "../../../src/charts/charts.ts";
import type { ThreadSnapshot } from "../../../src/charts/charts.ts";
import { planChange } from "../../../src/threads/hold/plan-change.ts";
import type { Enclosed, PlannedChange } from "../../../src/threads/hold/plan-change.ts";
import type { RunRecord, UserMessage } from "../../../src/domain/threads/message.ts";
import { sampleWaiting } from "../../stores/samples.ts";
import { pageCall } from "../scripted-agent.ts";

const limits = { toolCalls: 1_000, toolResultMs: 60_000 };
const message = (runId: string): UserMessage => sampleWaiting(runId);
const said = (runId: string): ThreadEvent => ({ type: "user.said", runId, atMs: 1_000, limits });
const called: ThreadEvent = { type: "agent.called", calls: [pageCall("c1")], usage: null, atMs: 1_100 };
const answered: ThreadEvent = {
  type: "page.answered",
  callId: "c1",
  tool: "cart",
  text: "One mug",
  isError: false,
  atMs: 1_200,
};

/** A thread, one change after the other. */
function planning(nowMs = 5_000, lastMessageAtMs = 0) {
  let snapshot: ThreadSnapshot = threadHost.initial();
  let run: RunRecord | null = null;
  return (event: ThreadEvent, enclosed: Partial<Enclosed> = {}): PlannedChange => {
    const decision = threadHost.decide(snapshot, event);
    const none: Enclosed = { item: null, message: null, page: null };
    const change = planChange({
      ...none,
      ...enclosed,
      run,
      event,
      decision,
      messageCount: 0,
      isShown: () => true,
      summarizedTo: 0,
      lastMessageAtMs,
      nowMs,
    });
    snapshot = decision.next;
    run = change.run ?? run;
    return change;
  };
}

test("a run that a message supersedes is saved beside the new one; one that ended before is not", () => {
  const plan = planning();
  expect(plan(said("r1"), { message: message("r1") }).endedRun).toBeNull();
  plan({ type: "agent.finished", usage: null, atMs: 1_100 });
  expect(plan(said("r2"), { message: message("r2") }).endedRun).toBeNull();
  plan(called);
  const superseding = plan(said("r3"), { message: message("r3") });
  expect(superseding.endedRun).toMatchObject({ runId: "r2", outcome: "superseded" });
  expect(superseding.run?.runId).toBe("r3");
});

test("with a result comes the page that the visitor is on now; without one it stays", () => {
  for (const [page, expected] of [
    ["/checkout", "/checkout"],
    [null, "/cart?x=1"],
  ] as const) {
    const plan = planning();
    plan(said("r1"), { message: message("r1") });
    plan(called);
    expect(plan(answered, { page }).run?.speaker.page).toBe(expected);
  }
});

test("no message is older than the one before it, wherever the clock is", () => {
  const [earlier] = planning(5_000, 9_000)(said("r1"), { message: message("r1") }).messages;
  expect(earlier?.createdAtMs).toBe(9_000);
  const [later] = planning(5_000, 1_000)(said("r1"), { message: message("r1") }).messages;
  expect(later?.createdAtMs).toBe(5_000);
});

test("of a run's moves the first 500 are kept", () => {
  const plan = planning();
  plan(said("r1"), { message: message("r1") });
  let moves = 1;
  let path = plan(called).run?.path;
  while (moves < 600) {
    plan(answered);
    path = plan(called).run?.path;
    moves += 2;
  }
  expect(path).toHaveLength(500);
});
