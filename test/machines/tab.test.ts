// For machines/tab.ts, machines/tab-events.ts
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isActive, MAX_FAILURES, tabMachine } from "../../machines/tab.ts";
import type { TabEffect } from "../../machines/tab.ts";
import type { OwnRun, TabEvent } from "../../machines/tab-events.ts";
import { outlineOf } from "../../machines/draw/outline.ts";
import { randomRuns } from "../support/lengths.ts";
import { happenings, play } from "./tab-events.ts";
import type { Step } from "./tab-events.ts";

/** What holds of every step of a tab, over all its pages, whatever happens to it. */
const everyTab = (claim: (steps: Step[]) => void) => fc.property(happenings, (all) => claim(play(all)));

const RUNS = { numRuns: randomRuns(300) };

const has = ({ effects }: Pick<Step, "effects">, ...some: TabEffect[]) =>
  effects.some((effect) => some.includes(effect));

/** What only happens for a run that this tab began. */
const OWN: TabEffect[] = ["prepare", "takeOver", "post", "callTool", "settle", "settleAgain"];

describe("the tab's chart, for all sequences of what happens to it", () => {
  it("is played through: every state is reached, and every event makes a difference", () => {
    const paths = new Set<string>();
    const types = new Set<string>();
    for (const all of fc.sample(happenings, { numRuns: 300, seed: 7 })) {
      for (const { event, before, after, effects } of play(all)) {
        paths.add(after.path);
        if (event !== null && (effects.length > 0 || before.path !== after.path)) types.add(event.type);
      }
    }
    const { states, moves } = outlineOf(tabMachine);
    const leaves = (of: typeof states): string[] =>
      of.flatMap(({ path, states: inner }) => (inner.length > 0 ? leaves(inner) : [path]));
    expect([...paths].sort()).toEqual(leaves(states).sort());
    // An entry of the history during a run changes nothing, as does what is news to resting states alone.
    expect([...types].sort()).toEqual([...new Set(moves.map(({ event }) => event ?? ""))].sort());
  });

  it("B1: a message is posted, its run followed and its tools called by the tab that has its lock", () => {
    fc.assert(
      everyTab((steps) => {
        let hasLock = false;
        for (const step of steps) {
          if (step.event === null || has(step, "prepare", "takeOver")) hasLock = false;
          if (step.event?.type === "lock.won" && isActive(step.before.path)) hasLock = true;
          // A run that is found takes its lock before its thread is loaded.
          if (step.event?.type === "thread.loaded") hasLock = true;
          expect(has(step, "post", "callTool") && !hasLock).toBe(false);
          if (has(step, "release")) hasLock = false;
        }
      }),
      RUNS,
    );
  });

  it("B2: what the next page needs is saved before it is done: what is under way is what is saved", () => {
    fc.assert(
      everyTab((steps) => {
        for (const { after, saved } of steps) {
          const { own } = after.context;
          // A run that has ended is not saved while its reply is loaded.
          if (own === null || !isActive(after.path) || after.path === "active.ending") continue;
          // The body alone may be replaced where the service has refused it, and is refused again.
          const { body: _, ...kept } = saved ?? ({} as OwnRun);
          const { body: __, ...present } = own;
          expect(kept).toEqual(present);
        }
      }),
      RUNS,
    );
  });

  it("B3: no tool is started twice, on whatever pages: not after the start was saved", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          if (has(step, "callTool") && step.event?.type === "tool.called") {
            const { own } = step.before.context;
            expect(own?.call?.callId === step.event.call.callId && own.phase !== "asking").toBe(false);
          }
          // The tool runs once its start is saved.
          if (step.event?.type === "tool.started" && step.before.path === "active.calling.asking")
            expect(step.saved?.phase).toBe("executing");
        }
      }),
      RUNS,
    );
  });

  it("B4: a run that the tab only watches has no tool called, nothing posted, and nothing saved or removed", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          const { own } = step.before.context;
          if (!isActive(step.before.path) || own !== null) continue;
          expect(has(step, "keepUnsent", "dropUnsent", "showUndelivered", ...OWN)).toBe(false);
          if (has(step, "open")) expect(step.after.context.opening).toBe("attach");
          expect(step.saved).toEqual(steps[steps.indexOf(step) - 1]?.saved ?? null);
        }
      }),
      RUNS,
    );
  });

  it("B5: a run that begins is released once, when it rests; a tab at rest does nothing of a run", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          if (step.event === null) continue;
          const [was, is] = [isActive(step.before.path), isActive(step.after.path)];
          expect(step.effects.filter((effect) => effect === "release")).toHaveLength(was && !is ? 1 : 0);
          if (is) continue;
          expect(has(step, "open", "waitOut", "countDown", "loadReply", ...OWN)).toBe(false);
        }
      }),
      RUNS,
    );
  });

  it("B6: of attempts in a row that bring no line there are few", () => {
    fc.assert(
      everyTab((steps) => {
        let waits = 0;
        for (const step of steps) {
          const { event } = step;
          const isNew = event === null || ["user.said", "run.found", "run.seen"].includes(event.type);
          const isNews =
            isNew ||
            ["message.accepted", "reply.grew", "tool.called", "page.settled"].includes(event.type) ||
            (event.type === "pause.over" && event.isBack) ||
            ("fault" in event && event.fault.isInterrupted);
          if (isNews) waits = 0;
          if (has(step, "waitOut")) waits += 1;
          expect(waits).toBeLessThanOrEqual(MAX_FAILURES);
        }
      }),
      RUNS,
    );
  });

  it.each<[type: "message.failed" | "stream.cut", TabEvent[]]>([
    ["message.failed", []],
    ["stream.cut", [{ type: "message.accepted" }]],
  ])("B6: %s again and again is waited out four times, and no more", (type, accepted) => {
    const fault = {
      status: 503,
      waitSeconds: 0,
      isUnanswered: true,
      isInterrupted: false,
      isOriginRefused: false,
      isOnline: true,
      hasMessage: false,
      hasReply: false,
      cause: null,
    };
    const begun: TabEvent[] = [
      { type: "user.said", message: { clientMessageId: "m1" }, isRepeat: false, threadId: "t1" },
      { type: "lock.won" },
      ...accepted,
    ];
    const cuts = Array<TabEvent[]>(10).fill([
      { type, fault },
      { type: "pause.over", isBack: false },
    ]);
    const steps = play([...begun, ...cuts.flat()].map((event) => ({ kind: "any", event })));
    expect(steps.filter((step) => has(step, "waitOut"))).toHaveLength(MAX_FAILURES);
    expect(steps.at(-1)?.after.path).toBe("resting.failed");
  });

  it("B7: a run of this tab is asked for by its id, or by its message, and never as the thread's last one", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          const { opening, own, runId } = step.after.context;
          if (!has(step, "open") || own === null) continue;
          expect(opening === "attach" && runId === null).toBe(false);
          expect(opening === "result" && own.body === undefined).toBe(false);
        }
      }),
      RUNS,
    );
  });

  it("B8: a run that is over is not saved any more; one that is lost is, and the tab can find it", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          if (step.event === null || step.before.context.own === null) continue;
          if (!isActive(step.before.path) || isActive(step.after.path)) continue;
          const isUnread = step.before.path === "active.resuming" && step.event.type === "thread.failed";
          expect(step.saved !== null).toBe(isUnread || has(step, "showLost"));
        }
      }),
      RUNS,
    );
  });

  it("B9: an event that is late, of a run that is over, changes nothing", () => {
    const begins: TabEvent["type"][] = ["user.said", "run.found", "run.seen"];
    const ofRests: TabEvent["type"][] = [
      "load.failed",
      "history.shown",
      "origin.refused",
      "connection.changed",
      "problem.solved",
      "run.left",
    ];
    fc.assert(
      everyTab((steps) => {
        for (const { event, before, after, effects } of steps) {
          if (event === null || isActive(before.path) || [...begins, ...ofRests].includes(event.type))
            continue;
          expect(after).toEqual(before);
          expect(effects).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  it("B10: a run whose end was seen is not followed again, however often it is reported", () => {
    fc.assert(
      everyTab((steps) => {
        for (const { event, before, after } of steps) {
          if (event?.type !== "run.seen" || isActive(before.path)) continue;
          const { named } = before.context;
          if (event.runId === null || named?.runId !== event.runId || !named.hasEnded) continue;
          expect(after).toEqual(before);
        }
      }),
      RUNS,
    );
  });

  it("B11: a saved run of another thread, or an old one, is never continued; its unsent message is kept", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          const { event, before, after } = step;
          if (event?.type !== "run.found" || isActive(before.path)) continue;
          const isElsewhere = event.own.threadId !== null && event.own.threadId !== event.threadId;
          const isOld = event.ageMs > 600_000;
          expect(isActive(after.path)).toBe(!isElsewhere && !isOld);
          expect(has(step, "keepFound")).toBe(!isElsewhere && isOld && event.own.runId === undefined);
        }
      }),
      RUNS,
    );
  });

  it("B12: a message is shown once, and each one that was not accepted is unsent, or back in the composer", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          const { before, after, event } = step;
          expect(has(step, "showMessage") && isActive(before.path)).toBe(false);
          if (event?.type !== "message.failed" || isActive(after.path) || !isActive(before.path)) continue;
          if (["active.starting", "active.posting"].includes(before.path))
            expect(has(step, event.fault.hasMessage ? "showLost" : "showUndelivered")).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("B13: a refusal that may not change is no reason to come back", () => {
    fc.assert(
      everyTab((steps) => {
        for (const step of steps) {
          const { event } = step;
          if (event === null || !("fault" in event)) continue;
          const { status, isOriginRefused } = event.fault;
          expect(isOriginRefused && has(step, "waitOut")).toBe(false);
          expect([401, 403].includes(status) && has(step, "waitOut", "countDown")).toBe(false);
        }
      }),
      RUNS,
    );
  });
});
