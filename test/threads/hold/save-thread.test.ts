// For src/threads/hold/save-thread.ts
import { expect, test } from "vitest";
import { saveThread } from "../../../src/threads/hold/save-thread.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { CommitResult, ThreadCommit } from "../../../src/store.ts";
import { createReference } from "../../stores/twin/reference.ts";
import { sampleCommit } from "../../stores/samples.ts";
import { setTime } from "../set-time.ts";

const committed: CommitResult = { type: "committed", rev: 1, next: null };

/** Saves in a store that is away for the first so many commits, or that breaks in another way. */
function saving({
  outages = 0,
  error = new StoreUnavailable("save a thread") as Error,
  isWanted = () => true,
}) {
  const time = setTime();
  const { clock, timers } = time;
  const commits: ThreadCommit[] = [];
  const warnings: string[] = [];
  let slow = 0;
  const store = {
    ...createReference(clock),
    commit(commit: ThreadCommit) {
      commits.push(commit);
      return commits.length <= outages ? Promise.reject(error) : Promise.resolve(committed);
    },
  };
  const note = (_: object, text: string) => void warnings.push(text);
  const log = { info: note, warn: note, error() {} };
  const saved = saveThread({ store, clock, timers, log }, sampleCommit({ opId: "op1", fence: "A:1" }), {
    isWanted,
    onSlow: () => slow++,
  });
  saved.catch(() => {});

  /** Lets time pass until the save has ended. */
  async function ended(): Promise<void> {
    let isOver = false;
    const over = () => void (isOver = true);
    saved.then(over, over);
    for (; !isOver; time.pass(50)) await new Promise(setImmediate);
  }
  return { saved, commits, warnings, ended, slow: () => slow };
}

test("P1: every retry of a save is the same operation, so that a save whose answer was lost is not made twice", async () => {
  const { saved, commits, ended } = saving({ outages: 4 });
  await ended();
  expect(await saved).toEqual(committed);
  expect(commits.map(({ opId }) => opId)).toEqual(Array(5).fill("op1"));
});

test("readers are told once that a save takes long, and not of a short outage", async () => {
  const short = saving({ outages: 3 });
  await short.ended();
  expect(short.slow()).toBe(0);
  expect(short.warnings).toEqual([]);

  const long = saving({ outages: 12 });
  await long.ended();
  expect(long.slow()).toBe(1);
  expect(long.warnings).toEqual([
    "the store is away: runs wait with their saves",
    "the store is back: runs go on",
  ]);
});

test("F5: of many runs that wait for one store the log has one line, and one when it is back", async () => {
  const time = setTime();
  const { clock, timers } = time;
  const lines: string[] = [];
  const note = (_: object, text: string) => void lines.push(text);
  const log = { info: note, warn: note, error: note };
  let isAway = true;
  const commit = () =>
    isAway ? Promise.reject(new StoreUnavailable("save a thread")) : Promise.resolve(committed);
  const store = { ...createReference(clock), commit };
  const wanted = { isWanted: () => true, onSlow() {} };
  const all = Promise.all(
    Array.from({ length: 202 }, (_, nth) =>
      saveThread({ store, clock, timers, log }, sampleCommit({ opId: `op${nth}`, fence: "A:1" }), wanted),
    ),
  );
  for (let passed = 0; passed < 100; passed += 1, time.pass(50)) await new Promise(setImmediate);
  isAway = false;
  let isOver = false;
  void all.then(() => (isOver = true));
  for (; !isOver; time.pass(50)) await new Promise(setImmediate);
  expect(lines).toEqual(["the store is away: runs wait with their saves", "the store is back: runs go on"]);
});

test("a save that nobody wants any more is given up", async () => {
  let asked = 0;
  const { saved, commits, ended } = saving({ outages: 100, isWanted: () => ++asked <= 3 });
  await ended();
  expect(await saved).toBeNull();
  expect(commits).toHaveLength(3);
});

test("what is no outage is not retried", async () => {
  const { saved, commits } = saving({ outages: 1, error: new Error("Cannot save: a fault of our own") });
  await expect(saved).rejects.toThrow("a fault of our own");
  expect(commits).toHaveLength(1);
});
