// For machines/draw/, machines/charts.ts, machines/state-path.ts
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { assign, emit, setup } from "xstate";
import { drawDot } from "../../machines/draw/dot.ts";
import { drawMermaid } from "../../machines/draw/mermaid.ts";
import { outlineOf } from "../../machines/draw/outline.ts";
import { drawCharts } from "../support/house/draw-charts.ts";

const machines = fileURLToPath(new URL("../../machines/", import.meta.url));

test("the pictures in machines/ are those of the charts (`npm run machines` draws them anew)", async () => {
  const drawn = await drawCharts();
  const names = readdirSync(machines).filter((name) => /\.(mmd|svg)$/.test(name));
  const kept = new Map(names.map((name) => [name, readFileSync(machines + name, "utf8")]));
  expect(kept).toEqual(drawn);
});

const lamp = setup({
  types: {
    context: {} as { uses: number },
    events: {} as { type: "pressed" } | { type: "flickered" },
    emitted: {} as { type: "light" },
  },
  guards: { worn: ({ context }) => context.uses > 3 },
  actions: {
    sayLight: emit({ type: "light" }),
    count: assign({ uses: ({ context }) => context.uses + 1 }),
    ring: (_, _params: { tone: string; text: string }) => {},
  },
}).createMachine({
  id: "lamp",
  context: { uses: 0 },
  initial: "off",
  states: {
    off: {
      exit: { type: "ring", params: { tone: "low", text: "" } },
      on: {
        pressed: [
          { guard: "worn", target: "broken" },
          { target: "on", actions: "count" },
        ],
      },
    },
    on: {
      initial: "bright",
      on: { pressed: { target: "off", actions: "sayLight" } },
      states: {
        bright: {
          entry: { type: "ring", params: { tone: "high", text: "a whole sentence" } },
          on: { flickered: { actions: "sayLight" } },
        },
      },
    },
    broken: { type: "final" },
  },
});

test("an outline tells lines, effects and context apart, and names the last unguarded branch `else`", () => {
  const { moves, states, initial } = outlineOf(lamp);
  expect(initial).toBe("off");
  expect(moves.map(({ from, event, guard, to }) => [from, event, guard, to])).toEqual([
    ["off", "pressed", "worn", "broken"],
    ["off", "pressed", "else", "on"],
    ["on", "pressed", null, "off"],
    ["on.bright", "flickered", null, null],
  ]);
  expect(moves.map(({ does }) => does)).toEqual([
    [],
    [{ kind: "context", name: "count", detail: "" }],
    [{ kind: "line", name: "sayLight", detail: "" }],
    [{ kind: "line", name: "sayLight", detail: "" }],
  ]);
  expect(states[1]?.states[0]?.entry).toEqual([{ kind: "effect", name: "ring", detail: "high" }]);
});

test("Mermaid draws nested states, entry effects, guards and final states", () => {
  expect(drawMermaid(outlineOf(lamp))).toBe(
    `stateDiagram-v2
  [*] --> off
  state "off<br/>exit / ring low" as off
  state "on" as on {
    [*] --> on_bright
    state "bright<br/>entry / ring high<br/>flickered /<br/>sayLight" as on_bright
  }
  state "broken" as broken
  broken --> [*]
  off --> broken: pressed [worn]
  off --> on: pressed [else]
  on --> off: pressed /<br/>sayLight
`,
  );
});

test("DOT gives every state and every move the id by which a page lights it", () => {
  const dot = drawDot(outlineOf(lamp));
  for (const id of ["lamp.off", "lamp.on", "lamp.on.bright", "lamp.broken"])
    expect(dot).toContain(`id="${id}"`);
  for (const id of ["lamp.off/pressed/0", "lamp.off/pressed/1", "lamp.on/pressed/0"])
    expect(dot).toContain(`ID="${id}"`);
});
