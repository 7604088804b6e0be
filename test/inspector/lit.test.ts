import { expect, test } from "vitest";
import { outlineOf } from "../../machines/draw/outline.ts";
import { threadMachine } from "../../machines/thread.ts";
import { litAfter, litIn } from "../../src/inspector/page/lit.ts";

const outline = outlineOf(threadMachine);

const move = (event: string, state: string) => ({ atMs: 0, event, state, said: [] });
const PATH = [
  move("user.said", "running.thinking"),
  move("agent.called", "running.usingServerTool"),
  move("tool.returned", "awaitingPageTool"),
  move("page.answered", "running.thinking"),
  move("agent.finished", "idle"),
];

test("before the first move the chart is where it begins", () => {
  expect(litAfter(outline, PATH, 0)).toEqual({ now: ["thread.idle"], taken: [], been: [] });
});

test("a move lights the state with those around it, and where the run was", () => {
  expect(litAfter(outline, PATH, 5)).toEqual({
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
  [2, ["thread.running.thinking/agent.called/0", "thread.running.choosing/at once/4"]],
  [3, ["thread.running.usingServerTool/tool.returned/0", "thread.running.choosing/at once/3"]],
  [4, ["thread.awaitingPageTool/page.answered/0", "thread.running.choosing/at once/1"]],
])("move %i lights the way it took, also through a state that is left at once", (count, taken) => {
  expect(litAfter(outline, PATH, count).taken).toEqual(taken);
});

test("an event that an outer and an inner state know was the inner one's", () => {
  const path = [...PATH.slice(0, 2), move("run.cancelled", "idle")];
  expect(litAfter(outline, path, 3).taken).toEqual(["thread.running.usingServerTool/run.cancelled/0"]);
  const early = [...PATH.slice(0, 1), move("run.cancelled", "idle")];
  expect(litAfter(outline, early, 2).taken).toEqual(["thread.running/run.cancelled/0"]);
});

test("a state that is known by itself is lit alone", () => {
  expect(litIn(outline, "running.choosing")).toEqual({
    now: ["thread.running", "thread.running.choosing"],
    taken: [],
    been: [],
  });
});
