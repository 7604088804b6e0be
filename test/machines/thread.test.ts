// For machines/thread.ts, machines/run.ts, machines/effect.ts, src/charts/host.ts
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isTerminal } from "../../machines/line.ts";
import { callsUnderWay } from "../../machines/run.ts";
import type { Call, RunLimits } from "../../machines/run.ts";
import type { ThreadEffect, ThreadEvent } from "../../machines/thread.ts";
import { threadHost } from "../../src/charts/charts.ts";
import { threadStateOf } from "../../src/threads/thread-state.ts";
import { play, threadEvent } from "./thread-events.ts";
import { randomRuns } from "../support/lengths.ts";

const limits: RunLimits = { toolCalls: 3, toolResultMs: 500 };
const said = (runId = "r1", atMs = 1_000): ThreadEvent => ({ type: "user.said", runId, atMs, limits });
const roomy: ThreadEvent = {
  type: "user.said",
  runId: "r1",
  atMs: 1_000,
  limits: { ...limits, toolCalls: 30 },
};
const wrote = (text: string): ThreadEvent => ({ type: "agent.wrote", text });
const finished = (atMs = 1_400): ThreadEvent => ({
  type: "agent.finished",
  usage: { input: 10, output: 5 },
  atMs,
});
const pageCall = (callId: string, tool = "cart"): Call => ({
  callId,
  kind: "page",
  tool,
  arguments: { n: 1 },
  progress: "Filling the cart",
  repeatable: false,
});
const serverCall = (callId: string, tool = "clock", repeatable = false): Call => ({
  ...pageCall(callId, tool),
  kind: "server",
  repeatable,
});
const needsApproval = (callId: string): Call => ({ ...serverCall(callId, "order"), confirm: "visitor" });
const readingCall = (callId: string, tool = "clock"): Call => ({
  ...serverCall(callId, tool, true),
  readOnly: true,
});
/** The ids of the calls that were made together, each time some were. */
const madeIn = (effects: readonly ThreadEffect[]) =>
  effects.flatMap((effect) =>
    effect.type === "callTools" ? [effect.params.calls.map(({ callId }) => callId)] : [],
  );
const called = (...calls: Extract<ThreadEvent, { type: "agent.called" }>["calls"]): ThreadEvent => ({
  type: "agent.called",
  calls,
  usage: { input: 10, output: 5 },
  atMs: 1_100,
});
const answered = (callId: string, tool = "cart", atMs = 1_200): ThreadEvent => ({
  type: "page.answered",
  callId,
  tool,
  text: "One mug in the cart",
  isError: false,
  atMs,
});
const returned = (callId: string): ThreadEvent => ({
  type: "tool.returned",
  callId,
  text: "It is noon",
  isError: false,
  atMs: 1_200,
});
const takenOnce: ThreadEvent = { type: "run.taken", atMs: 1_100 };
const taken = (times: number) => Array<ThreadEvent>(times).fill(takenOnce);

describe("the thread's chart, for all event sequences", () => {
  const sequences = fc.array(threadEvent, { maxLength: 40 });

  it("T1: every stream it says is (delta | step)* and one terminal line", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        let open = false;
        for (const { event, before, next, outcome } of play(events).decisions) {
          const isMessage = event.type === "user.said" || event.type === "reply.again";
          const begins =
            (isMessage && before.value !== "awaitingPageTool") ||
            (event.type === "service.instructed" && before.value === "idle");
          if (begins && !before.context.run) open = true;
          if (event.type === "page.answered" && outcome.length > 0) open = true;
          const superseding =
            isMessage &&
            before.value === "awaitingPageTool" &&
            next.context.run !== null &&
            outcome.length > 0;
          const lines = outcome.flatMap((part) => (part.kind === "emitted" ? [part.line] : []));
          const terminals = lines.filter(isTerminal);
          expect(terminals.length).toBeLessThanOrEqual(1);
          if (terminals.length === 1) expect(isTerminal(lines.at(-1)!)).toBe(true);
          // A call that expires or is cancelled ends a stream that was over already: what re-attaching shows.
          const atRest = before.value === "awaitingPageTool" && event.type !== "page.answered";
          if (lines.length > 0 && !atRest) expect(open).toBe(true);
          if (terminals.length === 1) open = false;
          if (superseding) open = true;
        }
      }),
      { numRuns: randomRuns(2_000) },
    );
  });

  it("T2: what begins a run keeps its message once, and what ends one ends it once", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        const { effects, snapshot } = play(events);
        const count = (...types: string[]) => effects.filter(({ type }) => types.includes(type)).length;
        const begun = count(
          "keepMessage",
          "keepMessageForPerson",
          "keepInstruction",
          "keepAgain",
          "keepNothing",
        );
        const ended = count("keepReply", "leaveToPerson");
        expect(begun - ended).toBe(snapshot.context.run ? 1 : 0);
        const isActive = ["running", "awaiting"].includes(threadStateOf(snapshot.value));
        expect(isActive).toBe(snapshot.context.run !== null);
      }),
      { numRuns: randomRuns(2_000) },
    );
  });

  it("T3: a thread that was frozen and thawed after any prefix goes on as if it had never stopped", () => {
    fc.assert(
      fc.property(sequences, fc.nat(40), (events, cut) => {
        const whole = play(events);
        const prefix = play(events.slice(0, cut));
        const rest = play(events.slice(cut), threadHost.thaw(threadHost.freeze(prefix.snapshot)));
        expect([...prefix.lines, ...rest.lines]).toEqual(whole.lines);
        expect(threadHost.freeze(rest.snapshot)).toBe(threadHost.freeze(whole.snapshot));
      }),
      { numRuns: randomRuns(1_000) },
    );
  });

  it("T4: a delta never changes the snapshot, so it costs no save", () => {
    fc.assert(
      fc.property(sequences, fc.string({ minLength: 1 }), (events, text) => {
        const { snapshot } = play(events);
        expect(threadHost.decide(snapshot, { type: "agent.wrote", text }).changed).toBe(false);
      }),
    );
  });

  it("T4: nor does what a call shows while it waits, which is said of a call under way alone", () => {
    fc.assert(
      fc.property(sequences, fc.boolean(), (events, isUnderWay) => {
        const { snapshot } = play(events);
        const { run } = snapshot.context;
        const calls = snapshot.matches({ running: "usingServerTool" }) && run ? callsUnderWay(run) : [];
        const callId = isUnderWay ? (calls[0]?.callId ?? "none") : "none";
        const { changed, outcome } = threadHost.decide(snapshot, {
          type: "tool.asked",
          callId,
          shown: "A link",
        });
        expect(changed).toBe(false);
        const said = outcome.flatMap((part) => (part.kind === "emitted" ? [part.line] : []));
        const isSaid = calls.some((call) => call.callId === callId);
        expect(said).toMatchObject(isSaid ? [{ type: "step", phase: "running", text: "A link" }] : []);
      }),
    );
  });

  it("T17: what the service says of its own accord enters the history once, at rest, and changes nothing else", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { event, next, outcome, before } of play(events).decisions) {
          if (event.type !== "service.said") continue;
          expect([next.value, next.context]).toEqual([before.value, before.context]);
          const isAtRest = threadStateOf(before.value) !== "running";
          const notice = { kind: "effect", effect: { type: "keepNotice", params: { text: event.text } } };
          expect(outcome).toEqual(isAtRest ? [notice] : []);
          expect(threadHost.decide(before, event).changed).toBe(isAtRest);
        }
      }),
      { numRuns: randomRuns(2_000) },
    );
  });

  it("T16: several calls are under way only if each only reads; each of them is answered once, or its step fails", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        const open: string[] = [];
        for (const { next, outcome, before } of play(events).decisions) {
          const { run } = next.context;
          const isCalling = JSON.stringify(next.value).includes("usingServerTool");
          const underWay = run && isCalling ? callsUnderWay(run) : [];
          if (underWay.length > 1) expect(underWay.every(({ readOnly }) => readOnly)).toBe(true);
          for (const part of outcome) {
            if (part.kind !== "emitted" || part.line.type !== "step") continue;
            const { id, phase } = part.line;
            // A call that was approved says once more that it is under way.
            if (phase === "running" && open.includes(id)) continue;
            if (phase === "running") open.push(id);
            else {
              expect(open).toContain(id);
              open.splice(open.indexOf(id), 1);
            }
          }
          const waits = next.value === "awaitingPageTool" || next.matches({ running: "awaitingApproval" });
          const pending = waits ? 1 : underWay.length;
          if (next !== before) expect(open).toHaveLength(pending);
        }
      }),
      { numRuns: randomRuns(2_000) },
    );
  });

  /** What may come once a run has called tools, of which the first may need approval, and may have been steered. */
  const inRun = fc
    .tuple(
      fc.constantFrom(serverCall("c1"), needsApproval("c1"), readingCall("c1"), pageCall("c1")),
      fc.constantFrom([], [serverCall("c2")], [needsApproval("c2")]),
      fc.constantFrom([], [{ type: "run.steered", runId: "r1" } as const]),
      sequences,
    )
    .map(([first, others, steered, events]) => [said(), called(first, ...others), ...steered, ...events]);

  it("T18: a call that needs approval is made only when it is approved, and each approval makes one call", () => {
    fc.assert(
      fc.property(inRun, (events) => {
        for (const { event, before, next, outcome } of play(events).decisions) {
          const effects = outcome.flatMap((part) => (part.kind === "effect" ? [part.effect] : []));
          const made = effects.flatMap((effect) => (effect.type === "callTools" ? effect.params.calls : []));
          expect(made.filter(({ confirm }) => confirm)).toEqual([]);
          const waiting = before.matches({ running: "awaitingApproval" }) ? before.context.run?.calls : [];
          const [first] = waiting ?? [];
          // One that is declined is dropped, and the next one made.
          if (!first || next.context.run?.calls.length !== waiting?.length || made.length === 0) continue;
          expect(event).toMatchObject({ type: "call.decided", callId: first.callId, approved: true });
          expect(made).toHaveLength(1);
        }
      }),
      { numRuns: randomRuns(2_000) },
    );
  });

  it("T19: a run that a message steers begins no other turn: it ends as done where that would begin", () => {
    fc.assert(
      fc.property(inRun, (events) => {
        for (const { event, before, outcome } of play(events).decisions) {
          // Whoever takes a turn up begins it anew, and a message begins a run of its own.
          const mayBegin = ["run.taken", "user.said", "reply.again"].includes(event.type);
          if (!before.context.run?.steered || mayBegin) continue;
          expect(outcome).not.toContainEqual({
            kind: "effect",
            effect: { type: "startTurn", params: undefined },
          });
        }
      }),
      { numRuns: randomRuns(2_000) },
    );
    const steered = [said(), called(serverCall("c1")), { type: "run.steered", runId: "r1" } as const];
    const { lines, effects, snapshot } = play([...steered, returned("c1")]);
    expect(lines.at(-1)).toMatchObject({ type: "done" });
    expect(effects.at(-1)).toEqual({ type: "keepReply", params: { outcome: "done", isGoneOnWith: true } });
    expect(snapshot.value).toBe("idle");
  });

  it("T5: no run makes more tool calls than its limit", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { next } of play(events).decisions) {
          expect(next.context.run?.toolCalls ?? 0).toBeLessThanOrEqual(limits.toolCalls);
        }
      }),
    );
  });
});

describe("the thread's chart", () => {
  it("answers a message with deltas and a done line that counts time and tokens", () => {
    const { lines } = play([said(), wrote("Good "), wrote("day"), finished()]);
    expect(lines).toEqual([
      { type: "delta", text: "Good " },
      { type: "delta", text: "day" },
      {
        type: "done",
        elapsedMs: 400,
        inputTokens: 10,
        outputTokens: 5,
        totalInputTokens: 10,
        totalOutputTokens: 5,
      },
    ]);
  });

  it("says of a call what it does, and then what it has done, where its model has said both", () => {
    const search = { ...serverCall("c1"), progress: "Searching the shop … | Searched the shop" };
    const stepsOf = (...events: ThreadEvent[]) =>
      play([said(), called(search), ...events]).lines.flatMap((line) =>
        line.type === "step" ? [`${line.phase}: ${line.text}`] : [],
      );
    expect(stepsOf(returned("c1"))).toEqual(["running: Searching the shop …", "done: Searched the shop"]);
    expect(stepsOf({ type: "tool.returned", callId: "c1", text: "No", isError: true, atMs: 1_200 })).toEqual([
      "running: Searching the shop …",
      "failed: Searching the shop …",
    ]);
  });

  it("sums tokens over the turns of a run and the runs of a thread, and leaves a run's own out where none were told", () => {
    const { lines } = play([
      said(),
      called(serverCall("c1")),
      returned("c1"),
      finished(),
      said("r2"),
      { type: "agent.finished", usage: null, atMs: 1_001 },
      said("r3"),
      { type: "agent.finished", usage: { input: 3, output: 2 }, atMs: 1_001 },
    ]);
    expect(lines.filter((line) => line.type === "done")).toEqual([
      {
        type: "done",
        elapsedMs: 400,
        inputTokens: 20,
        outputTokens: 10,
        totalInputTokens: 20,
        totalOutputTokens: 10,
      },
      { type: "done", elapsedMs: 1, totalInputTokens: 20, totalOutputTokens: 10 },
      {
        type: "done",
        elapsedMs: 1,
        inputTokens: 3,
        outputTokens: 2,
        totalInputTokens: 23,
        totalOutputTokens: 12,
      },
    ]);
  });

  it("does the calls of one turn one by one in the model's order, each with its steps", () => {
    const { lines, snapshot } = play([
      said(),
      called(serverCall("c1"), pageCall("c2"), pageCall("c3")),
      returned("c1"),
      answered("c2"),
      answered("c3"),
    ]);
    expect(lines.map((line) => (line.type === "step" ? `${line.id} ${line.phase}` : line.type))).toEqual([
      "clock running",
      "clock done",
      "cart running",
      "tool_call",
      "cart done",
      "cart#2 running",
      "tool_call",
      "cart#2 done",
    ]);
    expect(snapshot.value).toEqual({ running: "thinking" });
  });

  it("T6: a result for another call, another tool or after the deadline changes nothing", () => {
    const pending = play([said(), called(pageCall("c1"))]).snapshot;
    for (const event of [answered("c2"), answered("c1", "search"), answered("c1", "cart", 1_600)]) {
      expect(threadHost.decide(pending, event)).toMatchObject({ changed: false, outcome: [] });
    }
    expect(threadHost.decide(pending, answered("c1", "cart", 1_599)).changed).toBe(true);
    const working = play([said(), called(serverCall("c1"), serverCall("c2"))]).snapshot;
    expect(threadHost.decide(working, returned("c2"))).toMatchObject({ changed: false, outcome: [] });
    expect(threadHost.decide(working, returned("c1")).changed).toBe(true);
  });

  it("a tool that failed ends its step as failed, and the model reads what it said", () => {
    const failed = { text: "Out of stock", isError: true, atMs: 1_200 };
    for (const [call, end] of [
      [serverCall("c1"), { ...failed, type: "tool.returned", callId: "c1" }],
      [pageCall("c1", "clock"), { ...failed, type: "page.answered", callId: "c1", tool: "clock" }],
    ] satisfies [Call, ThreadEvent][]) {
      const { lines, effects } = play([said(), called(call), end]);
      expect(lines.at(-1)).toEqual({ type: "step", id: "clock", phase: "failed", text: "Filling the cart" });
      expect(effects).toContainEqual({
        type: "noteResults",
        params: { results: [{ callId: "c1", text: "Out of stock", isError: true }] },
      });
    }
  });

  it("T7: a message on a pending call fails its step, keeps what was said, and begins a new run", () => {
    const { decisions, snapshot } = play([said(), called(pageCall("c1")), said("r2", 1_300)]);
    expect(decisions.at(-1)?.outcome).toEqual([
      { kind: "emitted", line: { type: "step", id: "cart", phase: "failed", text: "Filling the cart" } },
      { kind: "effect", effect: { type: "keepReply", params: { outcome: "superseded" } } },
      { kind: "effect", effect: { type: "keepMessage", params: undefined } },
      { kind: "effect", effect: { type: "startTurn", params: undefined } },
    ]);
    expect(snapshot.context.run?.id).toBe("r2");
  });

  it("T8: a call expires at its deadline and not before", () => {
    const pending = play([said(), called(pageCall("c1"))]).snapshot;
    expect(threadHost.decide(pending, { type: "call.expired", atMs: 1_599 }).changed).toBe(false);
    const { next, outcome } = threadHost.decide(pending, { type: "call.expired", atMs: 1_600 });
    expect(next.value).toBe("idle");
    expect(outcome.at(1)).toMatchObject({ line: { type: "error", code: "expired" } });
  });

  it("T9: a turn is begun three times at most; then its run ends, keeps its reply and asks for nothing more", () => {
    const alive = play([said(), wrote("It is"), ...taken(2)]);
    expect(alive.effects.filter((effect) => effect.type === "startTurn")).toHaveLength(3);
    const { next, outcome } = threadHost.decide(alive.snapshot, takenOnce);
    expect(outcome).toEqual([
      { kind: "emitted", line: { type: "error", message: "The run was interrupted too often" } },
      { kind: "effect", effect: { type: "keepReply", params: { outcome: "failed" } } },
    ]);
    expect(next.value).toBe("idle");
    expect(next.context.run).toBeNull();
  });

  it("T9: whatever a turn calls begins the count anew, also calls that are not made", () => {
    const refused = called({ callId: "c1", kind: "refused", reason: "No such tool" });
    for (const step of [[refused], [called(serverCall("c1")), returned("c1")]]) {
      const onward = play([said(), ...taken(2), ...step, ...taken(2)]);
      expect(onward.snapshot.value).toEqual({ running: "thinking" });
      expect(play([takenOnce], onward.snapshot).snapshot.value).toBe("idle");
    }
    const calling = play([said(), ...taken(2), called(serverCall("c1", "clock", true)), ...taken(2)]);
    expect(calling.snapshot.value).toEqual({ running: "usingServerTool" });
    expect(calling.effects.filter((effect) => effect.type === "callTools")).toHaveLength(3);
  });

  it("T9: an answered call begins the count anew, for the next call and for the next turn", () => {
    const clock = (callId: string) => serverCall(callId, "clock", true);
    const turn = play([said(), called(clock("c1")), ...taken(2), returned("c1"), ...taken(2)]);
    expect(turn.snapshot.value).toEqual({ running: "thinking" });
    const call = play([said(), called(clock("c1"), clock("c2")), ...taken(2), returned("c1"), ...taken(2)]);
    expect(call.snapshot.value).toEqual({ running: "usingServerTool" });
  });

  it("T10: a server-side call is made again after a takeover only where it may be; else its outcome is unknown to the model", () => {
    const again = play([said(), called(serverCall("c1", "clock", true)), takenOnce]);
    expect(again.effects.filter((effect) => effect.type === "callTools")).toHaveLength(2);
    const once = play([said(), called(serverCall("c1", "pay", false)), takenOnce]);
    expect(once.effects.filter((effect) => effect.type === "callTools")).toHaveLength(1);
    expect(once.effects).toContainEqual({
      type: "noteResults",
      params: { results: [expect.objectContaining({ callId: "c1", isError: true })] },
    });
    expect(once.snapshot.value).toEqual({ running: "thinking" });
  });

  it("T9 T10: a call that may be made again is made three times at most; then its run ends", () => {
    const alive = play([said(), called(serverCall("c1", "clock", true)), ...taken(2)]);
    expect(alive.effects.filter((effect) => effect.type === "callTools")).toHaveLength(3);
    const { next, outcome } = threadHost.decide(alive.snapshot, takenOnce);
    expect(outcome).toMatchObject([
      { kind: "emitted", line: { type: "step", id: "clock", phase: "failed" } },
      { kind: "emitted", line: { type: "error", message: "The run was interrupted too often" } },
      { kind: "effect", effect: { type: "keepReply", params: { outcome: "failed" } } },
    ]);
    expect(next.value).toBe("idle");
    expect(next.context.run).toBeNull();
  });

  it("T16: calls that follow each other and only read are made side by side; others wait, in the model's order", () => {
    const reading = (callId: string, tool = "clock") => readingCall(callId, tool);
    const { snapshot, lines, effects } = play([
      roomy,
      called(reading("a"), reading("b"), serverCall("c", "pay"), reading("d")),
    ]);
    expect(madeIn(effects)).toEqual([["a", "b"]]);
    expect(lines).toMatchObject([
      { id: "clock", phase: "running" },
      { id: "clock#2", phase: "running" },
    ]);
    const second = play([returned("b")], snapshot);
    expect(second.lines).toEqual([{ type: "step", id: "clock#2", phase: "done", text: "Filling the cart" }]);
    expect(second.effects).toEqual([
      { type: "noteResults", params: { results: [{ callId: "b", text: "It is noon", isError: false }] } },
    ]);
    const both = play([returned("b"), returned("a")], second.snapshot);
    expect(both.lines).toMatchObject([
      { id: "clock", phase: "done" },
      { id: "pay", phase: "running" },
    ]);
    expect(madeIn(both.effects)).toEqual([["c"]]);
    const last = play([returned("c"), returned("d")], both.snapshot);
    expect(madeIn(last.effects)).toEqual([["d"]]);
    expect(last.lines).toMatchObject([
      { id: "pay", phase: "done" },
      { id: "clock#3", phase: "running" },
      { id: "clock#3", phase: "done" },
    ]);
    expect(last.snapshot.value).toEqual({ running: "thinking" });
  });

  it("T16: no more are made than the run may still make, and no more than eight at a time", () => {
    const many = Array.from({ length: 20 }, (_, nth) => readingCall(`c${nth}`));
    expect(madeIn(play([said(), called(...many)]).effects).map((made) => made.length)).toEqual([3]);
    const events = [roomy, called(...many), ...many.map(({ callId }) => returned(callId))];
    expect(madeIn(play(events).effects).map((made) => made.length)).toEqual([8, 8, 4]);
  });

  it("T9 T16: after a takeover those without a result are made again, three times at most", () => {
    const calls = [readingCall("a"), readingCall("b", "weather"), readingCall("c")];
    const one = play([said(), called(...calls), returned("b"), takenOnce]);
    expect(madeIn(one.effects)).toEqual([
      ["a", "b", "c"],
      ["a", "c"],
    ]);
    expect(one.lines.filter((line) => line.type === "step" && line.phase === "running")).toHaveLength(3);
    // One that has its result does not give the others more tries.
    const spent = play([takenOnce, returned("a"), takenOnce], one.snapshot);
    expect(madeIn(spent.effects)).toEqual([["a", "c"]]);
    expect(spent.lines.slice(-2)).toEqual([
      { type: "step", id: "clock#2", phase: "failed", text: "Filling the cart" },
      { type: "error", message: "The run was interrupted too often" },
    ]);
  });

  it("T16: whatever ends the run fails the steps that are under way, and those alone", () => {
    const asked = { by: "visitor", reason: null, waitMs: 600, atMs: 1_200 } as const;
    const ends: ThreadEvent[] = [
      { type: "run.failed", runId: "r1", message: "It broke", code: null },
      { type: "run.cancelled", runId: "r1" },
      { type: "person.asked", ...asked },
      { type: "person.took", name: "Ada", takeId: "t1", epoch: 0, atMs: 1_200 },
    ];
    for (const end of ends) {
      const { lines } = play([
        said(),
        called(readingCall("a"), readingCall("b", "weather"), readingCall("c", "news")),
        returned("b"),
        end,
      ]);
      const failed = lines.flatMap((line) =>
        line.type === "step" && line.phase === "failed" ? [line.id] : [],
      );
      expect(failed).toEqual(["clock", "news"]);
      expect(isTerminal(lines.at(-1)!)).toBe(true);
    }
  });

  it("T11: calls that do not exist or fit go back to the model, and end the run when they come too often in a row", () => {
    const miss = called({ callId: "c1", kind: "refused", reason: "No such tool" });
    const misses = (count: number) => Array<ThreadEvent>(count).fill(miss);
    expect(play([said(), ...misses(3)]).snapshot.value).toEqual({ running: "thinking" });
    const spent = play([said(), ...misses(4)]);
    expect(spent.lines).toMatchObject([{ type: "error", code: "task_failed" }]);
    const mended = play([said(), ...misses(3), called(serverCall("c2")), returned("c2"), ...misses(3)]);
    expect(mended.snapshot.value).toEqual({ running: "thinking" });
  });

  it("T12: one tool call too many ends the run as task_failed, with the last tool answer as hint", () => {
    const four = [pageCall("a"), pageCall("b"), pageCall("c"), pageCall("d")];
    const { lines } = play([said(), called(...four), answered("a"), answered("b"), answered("c")]);
    expect(lines.at(-1)).toEqual({
      type: "error",
      code: "task_failed",
      message: "The run used more tool calls than it may",
      hint: "One mug in the cart",
    });
  });

  it("T13: numbers the steps of a tool that is called again, whatever a page calls its tool", () => {
    for (const tool of ["cart", "constructor", "__proto__"]) {
      const { lines } = play([said(), called(pageCall("a", tool), pageCall("b", tool)), answered("a", tool)]);
      const ids = lines.flatMap((line) => (line.type === "step" ? [line.id] : []));
      expect(ids).toEqual([tool, tool, `${tool}#2`]);
    }
    const { lines } = play([
      said(),
      called(pageCall("a", "cart"), pageCall("b", "cart#2"), pageCall("c", "cart")),
      answered("a", "cart"),
      answered("b", "cart#2"),
    ]);
    const begun = lines.flatMap((line) =>
      line.type === "step" && line.phase === "running" ? [line.id] : [],
    );
    expect(begun).toEqual(["cart", "cart#2#1", "cart#2"]);
  });

  it("T15: an event that ends a run in the middle of a turn adds what it cost to the thread's tokens", () => {
    const usage = { input: 3, output: 2 };
    const asked = { by: "visitor", reason: null, waitMs: 600, atMs: 1_200 } as const;
    const ends: ThreadEvent[] = [
      { type: "run.failed", runId: "r2", message: "It broke", code: null, usage },
      { type: "run.cancelled", runId: "r2", usage },
      { type: "person.asked", ...asked, usage },
      { type: "person.took", name: "Ada", takeId: "t1", epoch: 0, usage, atMs: 1_200 },
    ];
    for (const end of ends) {
      const { snapshot } = play([said("r1"), finished(), said("r2"), end]);
      expect(snapshot.context).toMatchObject({ run: null, usage: { input: 13, output: 7 } });
    }
  });

  it("T14: whoever ends a run names it: a failure or a cancel of another run changes nothing", () => {
    const endings = (runId: string): ThreadEvent[] => [
      { type: "run.failed", runId, message: "It broke", code: null },
      { type: "run.cancelled", runId },
    ];
    const secondRun = [
      [said("r2")],
      [said("r2"), called(serverCall("c1"))],
      [said("r2"), called(pageCall("c1"))],
    ];
    for (const events of secondRun) {
      const { snapshot } = play([said("r1"), finished(), ...events]);
      for (const ending of endings("r1")) {
        expect(threadHost.decide(snapshot, ending)).toMatchObject({ changed: false, outcome: [] });
      }
      for (const ending of endings("r2")) {
        // A pending page call fails by its deadline alone.
        const isPending = snapshot.value === "awaitingPageTool" && ending.type === "run.failed";
        expect(threadHost.decide(snapshot, ending).changed).toBe(!isPending);
      }
    }
  });

  it("refuses a snapshot of another chart version or of a state it does not have", () => {
    expect(() => threadHost.thaw('{"value":"idle","context":{"version":0}}')).toThrow(/version/);
    expect(() =>
      threadHost.thaw('{"value":"dreaming","context":{"version":1,"run":null,"usage":null}}'),
    ).toThrow(/dreaming/);
  });
});
