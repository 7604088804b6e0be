// For src/console/machine/lit.ts
import { expect, test } from "vitest";
import { outlineOf } from "../../machines/draw/outline.ts";
import { threadMachine } from "../../machines/thread.ts";
import { litAfter, litIn, stepsOf } from "../../src/console/machine/lit.ts";
import type { RunView } from "../../src/operators/accounts/sight.ts";

const outline = outlineOf(threadMachine);

const move = (event: string, state: string) => ({ atMs: 0, event, state, said: [] });
const PATH = [
  move("user.said", "running.thinking"),
  move("agent.called", "running.usingServerTool"),
  move("tool.returned", "awaitingPageTool"),
  move("page.answered", "running.thinking"),
  move("agent.finished", "idle"),
];

const runOf = (path: RunView["path"]): RunView => ({ runId: "r1", saidAtMs: 0, outcome: null, path });

/** The chart after the first `count` events of a run that is the thread's only one. */
function litAt(path: RunView["path"], count: number) {
  const run = runOf(path);
  return litAfter(outline, stepsOf(outline, run, [run]), count);
}

test("before the first move the chart is where it begins", () => {
  expect(litAt(PATH, 0)).toEqual({ now: ["thread.idle"], taken: [], been: [] });
});

test("a move lights the state with those around it, and where the run was", () => {
  expect(litAt(PATH, 5)).toEqual({
    now: ["thread.idle"],
    taken: ["thread.running.thinking/agent.finished/0"],
    been: [
      "thread.running",
      "thread.running.thinking",
      "thread.running.usingServerTool",
      "thread.awaitingPageTool",
    ],
  });
});

test.each([
  [1, ["thread.idle/user.said/0"]],
  [2, ["thread.running.thinking/agent.called/0", "thread.running.choosing/at once/6"]],
  [3, ["thread.running.usingServerTool/tool.returned/0", "thread.running.choosing/at once/5"]],
  [4, ["thread.awaitingPageTool/page.answered/0", "thread.running.choosing/at once/2"]],
])("move %i lights the way it took, also through a state that is left at once", (count, taken) => {
  expect(litAt(PATH, count).taken).toEqual(taken);
});

test("a result of one of several calls stays in the state, and the last one may lead to the next call", () => {
  const answered = (...said: string[]) => ({ ...move("tool.returned", "running.usingServerTool"), said });
  const path = [...PATH.slice(0, 2), answered("step"), answered("step", "step")];
  expect(litAt(path, 3).taken).toEqual(["thread.running.usingServerTool/tool.returned/1"]);
  expect(litAt(path, 4).taken).toEqual([
    "thread.running.usingServerTool/tool.returned/0",
    "thread.running.choosing/at once/6",
  ]);
});

test("an event that an outer and an inner state know was the inner one's", () => {
  const path = [...PATH.slice(0, 2), move("run.cancelled", "idle")];
  expect(litAt(path, 3).taken).toEqual(["thread.running.usingServerTool/run.cancelled/0"]);
  const early = [...PATH.slice(0, 1), move("run.cancelled", "idle")];
  expect(litAt(early, 2).taken).toEqual(["thread.running/run.cancelled/0"]);
});

test("a state that is known by itself is lit alone", () => {
  expect(litIn(outline, "running.choosing")).toEqual({
    now: ["thread.running", "thread.running.choosing"],
    taken: [],
    been: [],
  });
});

test("a step says what led from where to where, what was sent, and what the chart has saved and done", () => {
  const run = runOf([...PATH.slice(0, 3), { ...move("run.cancelled", "idle"), said: ["step", "error"] }]);
  const steps = stepsOf(outline, run, [run]);
  expect(steps.map(({ from, to, lines, effects }) => ({ from, to, lines, effects }))).toEqual([
    {
      from: "idle",
      to: "running.thinking",
      lines: [],
      effects: ["noteHandedBack", "keepMessage", "startTurn"],
    },
    {
      from: "running.thinking",
      to: "running.usingServerTool",
      lines: [],
      effects: ["noteResults", "callTools"],
    },
    { from: "running.usingServerTool", to: "awaitingPageTool", lines: [], effects: ["noteResults"] },
    { from: "awaitingPageTool", to: "idle", lines: ["step", "error"], effects: ["keepReply"] },
  ]);
});

test("a run begins where the one before it was left, unless the thread has moved between them", () => {
  const begun = { ...runOf([move("user.said", "running.thinking")]), runId: "r2" };
  const after = (state: string) => stepsOf(outline, begun, [runOf([move("user.said", state)]), begun])[0];
  expect(after("awaitingPageTool")).toMatchObject({
    from: "awaitingPageTool",
    effects: ["keepReply", "keepMessage", "startTurn"],
  });
  // A person who gives a thread back does so between two runs.
  expect(after("with_person")).toMatchObject({ from: "idle" });
});
