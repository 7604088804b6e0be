/**
 * The next version, invented: what a message that says "#marked" is like in it. Each thing that a version may add is there
 * once: a state of a chart and a field of its context (a thread whose last message was marked rests in `kept`), a type of
 * lines (`note`, before each piece of a marked reply), and a field of a record (`mark`, of a marked message and its reply).
 */
export interface Change {
  /** From the root of the repository. */
  file: string;
  /** Stands in it once. */
  from: string;
  to: string;
}

/** A marked message has this in its text. */
export const MARK = "#marked";

const chart: Change[] = [
  {
    file: "machines/thread.ts",
    from: "export const THREAD_CHART_VERSION = 4;",
    to: "export const THREAD_CHART_VERSION = 5;",
  },
  {
    file: "machines/thread.ts",
    from: "  handedBack: HandedBack | null;\n}",
    to: "  handedBack: HandedBack | null;\n  isMarked: boolean;\n}",
  },
  {
    file: "machines/thread.ts",
    from: '  | { type: "user.said"; runId: string; atMs: number; limits: RunLimits; answerMs?: number | undefined }',
    to: '  | { type: "user.said"; runId: string; atMs: number; limits: RunLimits; answerMs?: number | undefined; isMarked?: boolean }',
  },
  {
    file: "machines/thread.ts",
    from: '        event.type === "user.said" || event.type === "service.instructed" ? beginRun(event) : context.run,\n',
    to: `        event.type === "user.said" || event.type === "service.instructed" ? beginRun(event) : context.run,
      isMarked: ({ event }) => event.type === "user.said" && event.isMarked === true,
`,
  },
  {
    file: "machines/thread.ts",
    from: "    handedBack: null,\n  },\n  initial:",
    to: "    handedBack: null,\n    isMarked: false,\n  },\n  initial:",
  },
  {
    file: "machines/thread.ts",
    from: "  guards: {\n",
    to: "  guards: {\n    isMarked: ({ context }) => context.isMarked,\n",
  },
  {
    file: "machines/thread.ts",
    from: "    sayStepResult: emit(",
    to: '    sayNote: emit({ type: "note", text: "marked" } as const),\n    sayStepResult: emit(',
  },
  {
    file: "machines/thread.ts",
    from: '            "agent.wrote": { actions: "sayDelta" },\n',
    to: '            "agent.wrote": [{ guard: "isMarked", actions: ["sayNote", "sayDelta"] }, { actions: "sayDelta" }],\n',
  },
  {
    file: "machines/thread.ts",
    from: '            "agent.finished": {\n',
    to: `            "agent.finished": [{
              guard: "isMarked",
              target: "#thread.kept",
              actions: ["countTokens", "sayDone", { type: "keepReply", params: { outcome: "done" } }, "endRun"],
            }, {
`,
  },
  {
    file: "machines/thread.ts",
    from: '            },\n            "agent.gaveUp": {',
    to: '            }],\n            "agent.gaveUp": {',
  },
  {
    file: "machines/thread.ts",
    from: "    running: {\n",
    to: `    kept: {
      on: { "user.said": { target: "running", actions: ["beginRun", "keepMessage"] } },
    },

    running: {
`,
  },
  {
    file: "machines/versions.ts",
    from: "readonly ChartStep[] = [withPeople, withCallsSideBySide];",
    to: `readonly ChartStep[] = [
  withPeople,
  withCallsSideBySide,
  {
    up: ({ value, context }) => ({ value, context: { ...context, isMarked: false } }),
    down: ({ value, context: { isMarked, ...context } }) => (isMarked ? null : { value, context }),
  },
];`,
  },
  {
    file: "src/charts/stored-context.ts",
    from: "  handedBack: handedBack.nullable(),\n",
    to: "  handedBack: handedBack.nullable(),\n  isMarked: z.boolean(),\n",
  },
  {
    file: "src/threads/thread-state.ts",
    from: '  return value === "awaitingPageTool"',
    to: '  if (value === "kept") return "idle";\n  return value === "awaitingPageTool"',
  },
  {
    file: "src/threads/hold/known-thread.ts",
    from: '      type: "user.said",\n',
    to: `      type: "user.said",\n      isMarked: message.text.includes("${MARK}"),\n`,
  },
];

const line: Change[] = [
  {
    file: "src/protocol/lines.ts",
    from: 'export const progressLine = z.discriminatedUnion("type", [deltaLine, stepLine]);',
    to: `export const noteLine = z.object({ type: z.literal("note"), text: z.string() });
export const progressLine = z.discriminatedUnion("type", [deltaLine, stepLine, noteLine]);`,
  },
  {
    file: "src/protocol/required.ts",
    from: "export const LINES = [\n",
    to: 'export const LINES = [\n  { type: ["note"], text: "string" },\n',
  },
  {
    file: "src/stores/records/records.ts",
    from: "  step: checkOf(stepLine),\n",
    to: "  step: checkOf(stepLine),\n  note: checkOf(noteLine),\n",
  },
  {
    file: "src/stores/records/records.ts",
    from: "  errorLine,\n  step,",
    to: "  errorLine,\n  noteLine,\n  step,",
  },
  {
    file: "src/stores/records/records.ts",
    from: 'kindOf("run", isRun, [withSealed, withReply])',
    to: `kindOf("run", isRun, [
  withSealed,
  {
    up: (record) => record,
    down: (record) => (JSON.stringify(record["lines"]).includes('{"type":"note"') ? null : record),
  },
])`,
  },
];

const field: Change[] = [
  {
    file: "src/domain/threads/message.ts",
    from: "  handedBack?: HandedBack;\n",
    to: '  handedBack?: HandedBack;\n  mark?: "important";\n',
  },
  {
    file: "src/threads/hold/plan-change.ts",
    from: "        ...(draft.handedBack ? { handedBack: draft.handedBack } : {}),\n",
    to: `        ...(draft.handedBack ? { handedBack: draft.handedBack } : {}),
        ...(text.includes("${MARK}") ? { mark: "important" as const } : {}),
`,
  },
  {
    file: "src/threads/hold/plan-change.ts",
    from: "    draft.messages.push(replyMessage({ run, outcome, terminal: run.terminal, ...stamp(draft, transition) }));\n",
    to: `    const reply = replyMessage({ run, outcome, terminal: run.terminal, ...stamp(draft, transition) });
    const isMarked = run.lines.some(({ type }) => type === "note");
    draft.messages.push(isMarked ? { ...reply, mark: "important" } : reply);
`,
  },
  {
    file: "src/stores/records/records.ts",
    from: "  outcome: optional(isOutcome),\n  model:",
    to: '  mark: optional(literal("important" as const)),\n  outcome: optional(isOutcome),\n  model:',
  },
  {
    file: "src/http/history-page.ts",
    from: "    ...(error ? { error } : {}),\n",
    to: "    ...(error ? { error } : {}),\n    ...(message.mark ? { mark: message.mark } : {}),\n",
  },
];

export const NEXT_VERSION: readonly Change[] = [...chart, ...line, ...field];
