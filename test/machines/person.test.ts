// For machines/person.ts, machines/thread.ts
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Line } from "../../machines/line.ts";
import type { Call, RunLimits } from "../../machines/run.ts";
import type { ThreadEvent } from "../../machines/thread.ts";
import { threadHost } from "../../src/charts/charts.ts";
import { randomRuns } from "../support/lengths.ts";
import { play, threadEvent } from "./thread-events.ts";

const limits: RunLimits = { toolCalls: 3, toolResultMs: 500 };
const said = (runId = "r1"): ThreadEvent => ({
  type: "user.said",
  runId,
  atMs: 1_000,
  limits,
  answerMs: 300,
});
const wrote = (text: string): ThreadEvent => ({ type: "agent.wrote", text });
const finished: ThreadEvent = { type: "agent.finished", usage: { input: 10, output: 5 }, atMs: 1_400 };
const call = (kind: "page" | "server"): Call => ({
  callId: "c1",
  kind,
  tool: "cart",
  arguments: {},
  progress: "Filling the cart",
  repeatable: false,
});
const called = (kind: "page" | "server"): ThreadEvent => ({
  type: "agent.called",
  calls: [call(kind)],
  usage: null,
  atMs: 1_100,
});
const answered: ThreadEvent = {
  type: "page.answered",
  callId: "c1",
  tool: "cart",
  text: "One mug",
  isError: false,
  atMs: 1_200,
};
const asked: ThreadEvent = {
  type: "person.asked",
  by: "visitor",
  reason: "A refund",
  waitMs: 600,
  atMs: 1_300,
};
const handedOff: ThreadEvent = {
  type: "agent.handedOff",
  reason: "A refund",
  summary: "A mug broke",
  message: "Somebody will be with you",
  waitMs: 600,
  usage: { input: 10, output: 5 },
  atMs: 1_300,
};
const took = (epoch: number, name = "ann"): ThreadEvent => ({
  type: "person.took",
  name,
  takeId: `${name} ${epoch}`,
  epoch,
  answerMs: 300,
  atMs: 1_500,
});
const personSaid = (epoch: number, name = "ann"): ThreadEvent => ({ type: "person.said", name, epoch });
const returned = (epoch: number, note: string | null = null): ThreadEvent => ({
  type: "person.returned",
  name: "ann",
  epoch,
  note,
  atMs: 1_700,
});
const expired = (atMs: number): ThreadEvent => ({
  type: "wait.expired",
  unavailable: "Nobody is here",
  atMs,
});

const unanswered = (atMs: number): ThreadEvent => ({
  type: "answer.expired",
  unanswered: "Sorry that you had to wait",
  waitMs: 600,
  atMs,
});

const isPersons = (value: unknown) => value === "waiting_for_person" || value === "with_person";
const linesOf = (outcome: ReturnType<typeof threadHost.decide>["outcome"]): Line[] =>
  outcome.flatMap((part) => (part.kind === "emitted" ? [part.line] : []));
const effectsOf = (outcome: ReturnType<typeof threadHost.decide>["outcome"]): string[] =>
  outcome.flatMap((part) => (part.kind === "effect" ? [part.effect.type] : []));

/** Of a message, or a taking, that a person has not answered. */
function deadlineOf(event: { atMs: number; answerMs?: number | undefined }): number | null {
  return event.answerMs === undefined ? null : event.atMs + event.answerMs;
}

describe("a thread and the people who may answer in it, for all event sequences", () => {
  const sequences = fc.array(threadEvent, { maxLength: 40 });

  it("H1: nothing of the model is said, and no model or tool is asked, between an asking or take and what ends it", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { before, next, outcome } of play(events).decisions) {
          if (!isPersons(before.value) && !isPersons(next.value)) continue;
          expect(effectsOf(outcome)).not.toContain("startTurn");
          expect(effectsOf(outcome)).not.toContain("callTools");
          if (!isPersons(before.value)) continue;
          for (const line of linesOf(outcome))
            expect(line).toMatchObject({ type: "done", handledBy: "person" });
        }
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("H2: every message has a model or a person to answer it, and never both", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { event, before, outcome } of play(events).decisions) {
          const effects = effectsOf(outcome);
          const asksModel = effects.includes("keepMessage");
          const leaves = effects.includes("keepMessageForPerson");
          if (event.type !== "user.said") expect(asksModel || leaves).toBe(false);
          if (asksModel) expect(effects).toContain("startTurn");
          expect(leaves).toBe(event.type === "user.said" && isPersons(before.value));
          expect(asksModel && leaves).toBe(false);
        }
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("H3: an act of an operator that names another epoch than the present one changes nothing", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { event, before, changed, outcome } of play(events).decisions) {
          if (!("epoch" in event) || event.epoch === before.context.epoch) continue;
          expect({ changed, outcome }).toEqual({ changed: false, outcome: [] });
        }
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("H4: the epoch grows by one with each change of who answers, and with nothing else", () => {
    const changes = [
      "agent.handedOff",
      "person.asked",
      "person.unasked",
      "wait.expired",
      "answer.expired",
      "person.took",
      "person.queued",
      "person.returned",
      "person.closed",
    ];
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { event, before, next, changed } of play(events).decisions) {
          const isChange = changed && changes.includes(event.type);
          expect(next.context.epoch).toBe(before.context.epoch + (isChange ? 1 : 0));
        }
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("H5: whatever happened, a wait ends at its deadline, and the next message is the model's", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        const { snapshot } = play(events);
        const { person } = snapshot.context;
        expect(isPersons(snapshot.value)).toBe(person !== null);
        if (snapshot.value !== "waiting_for_person") return;
        const over = play([expired(person?.deadlineMs ?? 0), said("r9")], snapshot);
        expect(over.effects.map(({ type }) => type)).toEqual([
          "keepNotice",
          "noteHandedBack",
          "keepMessage",
          "startTurn",
        ]);
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("H7: a person's deadline begins with what they have not answered, and ends with their answer", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        for (const { event, before, next, changed } of play(events).decisions) {
          const [was, is] = [before.context.person, next.context.person];
          if (next.value !== "with_person" || !changed) continue;
          if (event.type === "person.said") expect(is?.deadlineMs).toBeNull();
          if (event.type === "user.said") expect(is?.deadlineMs).toBe(was?.deadlineMs ?? deadlineOf(event));
          if (event.type !== "person.took") continue;
          const isWaited = was ? was.deadlineMs !== null : before.context.run !== null;
          expect(is?.deadlineMs).toBe(isWaited ? deadlineOf(event) : null);
        }
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("H6: a thread in which nobody ever asked for a person is stored as version 1 stored it", () => {
    fc.assert(
      fc.property(sequences, (events) => {
        const { snapshot } = play(events);
        const stored = JSON.parse(threadHost.freeze(snapshot)) as { context: Record<string, unknown> };
        const { epoch, run } = snapshot.context;
        // What version 4 added; calls side by side are version 3's.
        if (run?.calls.some(({ confirm }) => confirm !== undefined) || run?.steered || run?.unasked) {
          expect(stored.context["version"]).toBe(4);
          return;
        }
        if (run?.calls.some(({ use }) => use !== undefined)) {
          expect(stored.context["version"]).toBe(3);
          return;
        }
        expect(stored.context["version"]).toBe(epoch === 0 ? 1 : 2);
        if (epoch === 0) expect(Object.keys(stored.context)).toEqual(["version", "run", "usage"]);
        expect(threadHost.thaw(JSON.stringify(stored)).context).toEqual(snapshot.context);
      }),
      { numRuns: randomRuns(500) },
    );
  });
});

describe("a person in a thread", () => {
  it("is asked for by the model: its words, then done, and the message after it is not the model's", () => {
    const { lines, effects, snapshot } = play([said(), wrote("Hm."), handedOff, said("r2")]);
    expect(lines).toEqual([
      { type: "delta", text: "Hm." },
      { type: "delta", text: "Somebody will be with you" },
      {
        type: "done",
        elapsedMs: 300,
        inputTokens: 10,
        outputTokens: 5,
        totalInputTokens: 10,
        totalOutputTokens: 5,
        handledBy: "person",
      },
      { type: "done", elapsedMs: 0, totalInputTokens: 10, totalOutputTokens: 5, handledBy: "person" },
    ]);
    expect(effects.map(({ type }) => type)).toEqual([
      "noteHandedBack",
      "keepMessage",
      "startTurn",
      "leaveToPerson",
      "keepMessageForPerson",
      "leaveToPerson",
    ]);
    expect(snapshot.context).toMatchObject({
      epoch: 1,
      person: {
        askedBy: "model",
        reason: "A refund",
        summary: "A mug broke",
        sinceMs: 1_300,
        deadlineMs: 1_900,
      },
    });
  });

  it.each([
    ["at rest", [], []],
    ["while the model thinks", [said()], ["done"]],
    ["while a tool is used", [said(), called("server")], ["step", "done"]],
    ["while a page call is pending", [said(), called("page")], ["step", "done"]],
  ] as const)("is asked for or takes over %s", (_when, events, told) => {
    const { snapshot } = play(events);
    for (const [event, state] of [
      [asked, "waiting_for_person"],
      [took(0), "with_person"],
    ] as const) {
      const { next, outcome } = threadHost.decide(snapshot, event);
      expect(next.value).toBe(state);
      expect(next.context).toMatchObject({ epoch: 1, run: null });
      expect(linesOf(outcome).map(({ type }) => type)).toEqual(told);
      expect(threadHost.decide(next, answered)).toMatchObject({ changed: false, outcome: [] });
      expect(threadHost.decide(next, finished)).toMatchObject({ changed: false, outcome: [] });
    }
  });

  it("H3: of two who take at once one has it, and only that one may write, return and close", () => {
    const taken = play([asked, took(1), took(1, "ben")]).snapshot;
    expect(taken.context).toMatchObject({ epoch: 2, person: { name: "ann", askedBy: "visitor" } });
    for (const event of [personSaid(2, "ben"), personSaid(1), returned(1)]) {
      expect(threadHost.decide(taken, event)).toMatchObject({ changed: false, outcome: [] });
    }
    expect(threadHost.decide(taken, personSaid(2)).outcome).toMatchObject([
      { effect: { type: "keepPersonMessage", params: { name: "ann" } } },
    ]);
    expect(threadHost.decide(taken, personSaid(2)).changed).toBe(true);
    expect(play([took(2, "ben")], taken).snapshot.context).toMatchObject({
      epoch: 3,
      person: { name: "ben" },
    });
  });

  it("gives the thread back, and the next run alone is told, with the note", () => {
    const { effects, snapshot } = play([took(0), returned(1, "Refunded"), said(), finished, said("r2")]);
    const handedBack = { name: "ann", how: "returned", note: "Refunded" };
    expect(effects.filter(({ type }) => type === "noteHandedBack")).toEqual([
      { type: "noteHandedBack", params: { handedBack } },
      { type: "noteHandedBack", params: { handedBack: null } },
    ]);
    expect(snapshot.context).toMatchObject({ epoch: 2, person: null, handedBack: null });
    const closed = play([took(0), { type: "person.closed", name: "ann", epoch: 1, atMs: 1_700 }]).snapshot;
    expect(closed.context.handedBack).toEqual({ name: "ann", how: "closed", note: null });
  });

  it("H5: is waited for until the deadline and not before; a cancel ends the wait alone", () => {
    const waiting = play([asked]).snapshot;
    expect(threadHost.decide(waiting, expired(1_899)).changed).toBe(false);
    const over = threadHost.decide(waiting, expired(1_900));
    expect(over.next.value).toBe("idle");
    expect(over.outcome).toEqual([
      { kind: "effect", effect: { type: "keepNotice", params: { text: "Nobody is here" } } },
    ]);
    expect(play([{ type: "person.unasked", atMs: 1_700 }], waiting).snapshot.value).toBe("idle");
    const taken = play([took(1)], waiting).snapshot;
    for (const event of [expired(9_000), { type: "person.unasked", atMs: 1_700 } as const, asked]) {
      expect(threadHost.decide(taken, event)).toMatchObject({ changed: false, outcome: [] });
    }
  });

  it("H7: loses the thread if the visitor waits too long for an answer, and it waits for a person again", () => {
    const taken = play([asked, took(1)]).snapshot;
    expect(taken.context.person?.deadlineMs).toBe(1_800);
    expect(threadHost.decide(taken, unanswered(1_799)).changed).toBe(false);
    const lost = threadHost.decide(taken, unanswered(1_800));
    expect(lost.next.value).toBe("waiting_for_person");
    expect(lost.next.context).toMatchObject({
      epoch: 3,
      answererSinceMs: 1_800,
      person: { askedBy: "visitor", reason: "A refund", sinceMs: 1_800, deadlineMs: 2_400, name: null },
    });
    expect(lost.outcome).toEqual([
      { kind: "effect", effect: { type: "keepNotice", params: { text: "Sorry that you had to wait" } } },
    ]);
    expect(play([took(3, "ben")], lost.next).snapshot.context.person?.name).toBe("ben");

    const answered = play([personSaid(2)], taken).snapshot;
    expect(threadHost.decide(answered, unanswered(9_000)).changed).toBe(false);
    const again = play([said("r2"), said("r3")], answered).snapshot;
    expect(again.context.person?.deadlineMs).toBe(1_300);
  });

  it("goes to a queue, from waiting or from who has it: it waits anew there, and keeps it whoever takes it", () => {
    const queued = (epoch: number, queue: string): ThreadEvent => ({
      type: "person.queued",
      queue,
      epoch,
      waitMs: 600,
      atMs: 1_600,
    });
    const waiting = play([{ ...asked, queue: "returns" }]).snapshot;
    expect(waiting.context.person).toMatchObject({ queue: "returns", deadlineMs: 1_900 });
    const moved = play([queued(1, "sales")], waiting).snapshot;
    expect(moved.context).toMatchObject({
      epoch: 2,
      person: { queue: "sales", deadlineMs: 2_200, reason: "A refund" },
    });
    const taken = play([took(2)], moved).snapshot;
    expect(taken.context.person).toMatchObject({ queue: "sales", name: "ann" });
    const back = play([queued(3, "returns")], taken).snapshot;
    expect([back.value, back.context.person?.queue]).toEqual(["waiting_for_person", "returns"]);
    expect(threadHost.decide(moved, queued(1, "returns")).changed).toBe(false);
    expect(play([queued(0, "returns")]).snapshot.value).toBe("idle");
  });

  it("H7: who takes a thread in which nobody waits has no deadline before the visitor writes", () => {
    const { snapshot } = play([took(0)]);
    expect(threadHost.decide(snapshot, unanswered(9_000)).changed).toBe(false);
    expect(play([said()], snapshot).snapshot.context.person?.deadlineMs).toBe(1_300);
    expect(play([said(), took(0)]).snapshot.context.person?.deadlineMs).toBe(1_800);
  });
});
