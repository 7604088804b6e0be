// For src/stores/steps/threads/
import fc from "fast-check";
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import type { Store, ThreadCommit } from "../../src/store.ts";
import { createReference } from "../stores/twin/reference.ts";
import { sampleCommit, sampleRun, sampleWaiting } from "../stores/samples.ts";
import { randomRuns } from "../support/lengths.ts";
import { usual } from "./configurations.ts";
import type { Step } from "./explore.ts";
import { ownership } from "./ownership.ts";
import { mended } from "./rules.ts";
import { initialState } from "./state.ts";
import type { Answer, Bounds, Commit, Fence, Op, Request, State } from "./state.ts";
import { fenceName, messageName } from "./steps.ts";

/**
 * The model's store is the store: along random ways through the model, what it answers is what the reference twin of
 * the stores answers to the same requests. Lists of holders are not in the twin.
 */
const rules = mended;
const QUEUE_MAX = 8;

function opName({ fence, rev }: Op): string {
  return `${fenceName(fence)}/${rev}`;
}

function commitOf(request: Commit): ThreadCommit {
  const { fence, rev, readOp, run, ends, starts, orWait, takesFrom, claims, holds } = request;
  const nameOf = (message: number | null) => (message === null ? null : messageName(message));
  return sampleCommit({
    uid: `t${request.thread}`,
    opId: opName({ fence, rev }),
    fence: fenceName(fence),
    claims,
    takesFrom: takesFrom === null ? null : fenceName(takesFrom),
    rev,
    readOp: readOp === null ? null : opName(readOp),
    state: run === null ? "idle" : run.phase === "awaiting" ? "awaiting" : "running",
    run: sampleRun(nameOf(run?.message ?? ends) ?? "of earlier times"),
    endedRun: run && ends !== null ? sampleRun(messageName(ends)) : null,
    startsWaiting: nameOf(starts),
    holds,
    orWait: orWait === null ? null : { message: sampleWaiting(messageName(orWait)), max: QUEUE_MAX },
  });
}

/** What the twin answers, in the model's words. */
async function askedOfTwin(store: Store, request: Request): Promise<unknown> {
  if (request.type === "wait") {
    const { type } = await store.wait(
      `t${request.thread}`,
      sampleWaiting(messageName(request.message)),
      QUEUE_MAX,
    );
    return { type };
  }
  const result = await store.commit(commitOf(request));
  if (result.type !== "committed") return { type: result.type };
  return { type: "committed", rev: result.rev, next: result.next?.runId ?? null };
}

function told(answer: Answer): unknown {
  if (answer.type !== "committed") return answer;
  return { ...answer, next: answer.next === null ? null : messageName(answer.next) };
}

function heldIn({ shard }: State): unknown {
  const nameOf = (fence: Fence | null) => (fence === null ? null : fenceName(fence));
  return shard.threads.map(({ fence, rev, queue }) => ({
    fence: nameOf(fence),
    rev,
    waitingCount: queue.length,
  }));
}

async function heldInTwin(store: Store, threads: number): Promise<unknown> {
  const records = await Promise.all(Array.from({ length: threads }, (_, nth) => store.load(`t${nth}`, 1)));
  return records.map((record) => ({
    fence: record?.fence ?? null,
    rev: record?.rev ?? 0,
    waitingCount: record?.waitingCount ?? 0,
  }));
}

const faults = { crash: 2, pause: 2, lost: 3, late: 3, cancel: 1 };
const worlds = fc.constantFrom<Partial<Bounds>>(
  { up: 3, messages: 4, faults },
  { up: 3, messages: 4, course: "step", faults },
  { up: 3, messages: 4, course: "page", faults },
  { up: 3, messages: 6, threads: 2, course: "page", faults },
);

test("the model's store answers as the stores do, on random ways", async () => {
  const met = new Set<string>();
  const choices = fc.array(fc.nat({ max: 1_000 }), { minLength: 40, maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(worlds, choices, async (world, picks) => {
      const bounds = { ...usual, ...world };
      const model = ownership({ bounds, rules });
      const twin = createReference(systemClock);
      let state = initialState(bounds);
      for (const pick of picks) {
        const steps = model.next(state);
        const step: Step<State> | undefined = steps[pick % steps.length];
        if (!step) return;
        const { served } = step.state;
        if (served && served !== state.served) {
          met.add(`${served.request.type === "wait" ? "wait" : served.request.why}: ${served.answer.type}`);
          expect(await askedOfTwin(twin, served.request)).toEqual(told(served.answer));
        }
        state = step.state;
        expect(await heldInTwin(twin, bounds.threads)).toEqual(heldIn(state));
      }
    }),
    // One seed: what was met is asserted below.
    { numRuns: randomRuns(300), seed: 13 },
  );
  for (const why of ["say", "take up", "resume", "step", "rest", "end", "begin"]) {
    expect([...met]).toContain(`${why}: committed`);
  }
  expect([...met]).toEqual(
    expect.arrayContaining(["wait: waiting", "wait: free", "say: waiting", "end: fenced"]),
  );
});
