// For machines/versions.ts, src/charts/, src/domain/versions.ts
import { assign, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { threadMachine } from "../../machines/thread.ts";
import type { ChartStep } from "../../machines/versions.ts";
import { visitorMachine } from "../../machines/visitor.ts";
import { threadHost, visitorHost } from "../../src/charts/charts.ts";
import { createHost } from "../../src/charts/host.ts";
import { readThreadContext, readVisitorContext } from "../../src/charts/stored-context.ts";
import { NewerRecord, UnreadableRecord } from "../../src/store.ts";
import { isNumber, isText, kindOf, listKindOf, optional, shape } from "../../src/stores/checks.ts";
import type { RecordStep } from "../../src/stores/checks.ts";
import { readCatalog } from "../../src/stores/records/records.ts";

/** Charts and records of planned versions: each is read from every one before it, and written as old as it can be. */

/** Version 2 says "bound" where version 1 said "identified"; version 3 knows who is banned. */
const bannable = setup({
  types: {
    context: {} as { version: number; externalId: string | null; reason: string | null },
    events: {} as { type: "visitor.banned"; reason: string },
  },
}).createMachine({
  id: "visitor",
  context: { version: 3, externalId: null, reason: null },
  initial: "anonymous",
  on: {
    "visitor.banned": { target: ".banned", actions: assign({ reason: ({ event }) => event.reason }) },
  },
  states: { anonymous: {}, bound: {}, banned: {} },
});

const steps: ChartStep[] = [
  {
    up: ({ value, context }) => ({
      value: JSON.stringify(value).includes("identified") ? "bound" : "anonymous",
      context,
    }),
    down: ({ value, context }) => ({
      value: { valid: value === "bound" ? "identified" : "anonymous" },
      context,
    }),
  },
  {
    up: ({ value, context }) => ({ value, context: { ...context, reason: null } }),
    down: ({ value, context: { reason: _, ...context } }) => (value === "banned" ? null : { value, context }),
  },
];

const later = createHost<typeof bannable, never, never>({
  machine: bannable,
  version: 3,
  steps,
  readContext: (stored) => {
    const reason = (stored as { reason: unknown }).reason;
    if (reason !== null && typeof reason !== "string") throw new Error("its reason does not fit");
    return { ...readVisitorContext(stored), reason };
  },
});

/** The two of this version, bound and not. */
const anonymous = visitorHost.initial();
const { next: bound } = visitorHost.decide(anonymous, { type: "visitor.identified", externalId: "kim" });

describe("a chart of a later version", () => {
  test("reads what every version before it wrote", () => {
    expect(later.thaw(visitorHost.freeze(anonymous))).toMatchObject({
      value: "anonymous",
      context: { version: 3, externalId: null, reason: null },
    });
    const second = JSON.stringify({ value: "bound", context: { version: 2, externalId: "kim" } });
    for (const text of [visitorHost.freeze(bound), second]) {
      expect(later.thaw(text)).toMatchObject({
        value: "bound",
        context: { version: 3, externalId: "kim", reason: null },
      });
    }
  });

  test("writes what uses nothing new as version 1 reads it", () => {
    for (const snapshot of [anonymous, bound]) {
      const text = visitorHost.freeze(snapshot);
      expect(JSON.parse(later.freeze(later.thaw(text)))).toEqual(JSON.parse(text));
      expect(visitorHost.thaw(later.freeze(later.thaw(text)))).toMatchObject({ value: snapshot.value });
    }
  });

  test("writes what is new in its own version, which the earlier one leaves alone", () => {
    const { next } = later.decide(later.initial(), { type: "visitor.banned", reason: "spam" });
    const text = later.freeze(next);
    expect(later.thaw(text)).toMatchObject({ value: "banned", context: { version: 3, reason: "spam" } });
    expect(() => visitorHost.thaw(text, "v1")).toThrow(new NewerRecord("visitor chart's snapshot", "v1", 3));
  });

  test("does not start where it has a version and no step to it", () => {
    const chart = { machine: visitorMachine, version: 2, steps: [], readContext: readVisitorContext };
    expect(() => createHost(chart)).toThrow("Cannot host the visitor chart: its version 2 needs 1 steps");
  });
});

describe("a thread's chart of a later version", () => {
  const counted: ChartStep[] = [
    {
      up: ({ value, context }) => ({ value, context: { ...context, usage: context["tokens"] ?? null } }),
      down: ({ value, context: { usage: tokens, ...context } }) => ({
        value,
        context: { ...context, tokens },
      }),
    },
  ];
  const host = createHost<typeof threadMachine, never, never>({
    machine: threadMachine,
    version: 2,
    steps: counted,
    readContext: readThreadContext,
  });

  test("goes on from the first version's, in the middle of a run", () => {
    const said = {
      type: "user.said",
      runId: "r1",
      atMs: 1,
      limits: { toolCalls: 1, toolResultMs: 1 },
    } as const;
    const { next } = host.decide(host.initial(), said);
    const text = host.freeze(next);
    expect(JSON.parse(text)).toMatchObject({ context: { version: 1, tokens: null } });
    const usage = { input: 3, output: 4 };
    const { next: ended } = host.decide(host.thaw(text), { type: "agent.finished", usage, atMs: 2 });
    expect(ended).toMatchObject({ value: "idle", context: { version: 2, usage } });
    expect(JSON.parse(host.freeze(ended))).toMatchObject({ context: { version: 1, tokens: usage } });
  });
});

describe("a snapshot that cannot be read", () => {
  test.each([
    ["no JSON", "half a snap"],
    ["no context", '{"value":"idle"}'],
    ["no version", '{"value":"idle","context":{"run":null,"usage":null}}'],
    ["a version that is none", '{"value":"idle","context":{"version":0,"run":null,"usage":null}}'],
    [
      "a state that the chart never had",
      '{"value":"dreaming","context":{"version":1,"run":null,"usage":null}}',
    ],
    ["a context of another shape", '{"value":"idle","context":{"version":1,"run":7,"usage":null}}'],
  ])("is not one of a newer version: %s", (_, text) => {
    const thaw = () => threadHost.thaw(text, "t1");
    expect(thaw).toThrow(/^Cannot read the thread chart's snapshot at t1: [^\n]+$/);
    expect(thaw).toThrow(expect.not.objectContaining({ name: "NewerRecord" }));
  });
});

interface Note {
  text: string;
  /** Since version 3. */
  colour?: string;
}

/** Version 1 had `content`, and version 2 has `text` as version 3 has. */
const noteSteps: RecordStep[] = [
  {
    up: ({ content, ...note }) => ({ ...note, text: content }),
    down: ({ text, ...note }) => ({ ...note, content: text }),
  },
  { up: (note) => note, down: (note) => ("colour" in note ? null : note) },
];
const fits = shape<Note>({ text: isText, colour: optional(isText) });
const note = kindOf("note", fits, noteSteps);
const notes = listKindOf("notes", fits, noteSteps);

describe("a record of a later version", () => {
  test("is read from every version, and written as old as it can be", () => {
    expect(note.version).toBe(3);
    expect(note.read({ content: "a" }, "n1")).toEqual({ text: "a" });
    expect(note.read({ text: "a", v: 2 }, "n1")).toEqual({ text: "a" });
    expect(note.stored({ text: "a" })).toEqual({ content: "a" });
    expect(note.stored({ text: "a", colour: "red" })).toEqual({ text: "a", colour: "red", v: 3 });
    expect(note.read(note.stored({ text: "a", colour: "red" }), "n1")).toEqual({ text: "a", colour: "red" });
  });

  test("is read in a list, each of its own version", () => {
    const list = [{ text: "a" }, { text: "b", colour: "red" }];
    expect(notes.stored(list)).toEqual([{ content: "a" }, { text: "b", colour: "red", v: 3 }]);
    expect(notes.read(notes.stored(list), "n1")).toEqual(list);
    expect(() => notes.read([{ content: 7 }], "n1")).toThrow(
      new UnreadableRecord("notes", "n1", "it does not fit"),
    );
  });

  test("tells the newer from the damaged", () => {
    expect(() => note.read({ content: "a", v: 4 }, "n1")).toThrow(new NewerRecord("note", "n1", 4));
    expect(() => notes.read([{ content: "a", v: 4 }], "n1")).toThrow(new NewerRecord("notes", "n1", 4));
    expect(() => readCatalog([{ name: "open", v: 2 }], "t1")).toThrow(new NewerRecord("catalog", "t1", 2));
    for (const damaged of [{ content: 7 }, { text: "a" }, null, [], { v: 2 }]) {
      expect(() => note.read(damaged, "n1")).toThrow(expect.objectContaining({ name: "UnreadableRecord" }));
    }
  });

  test("whose step cannot be made is damaged", () => {
    const strict = kindOf("point", shape<{ x: number }>({ x: isNumber }), [
      { up: ({ at }) => ({ x: (at as { x: number }).x }) },
    ]);
    expect(strict.read({ at: { x: 1 } }, "p1")).toEqual({ x: 1 });
    expect(strict.stored({ x: 1 })).toEqual({ x: 1, v: 2 });
    expect(() => strict.read({}, "p1")).toThrow("Cannot read the point at p1: it is no object");
  });
});
