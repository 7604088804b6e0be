import type { Source, StepLine, StepPhase } from "./line.ts";

/**
 * What a thread's chart knows of its active run: only what decides the next move. The run's text, and the transcript
 * for the model, are stored beside the snapshot.
 */

/** How often a step may be tried, including the first time, before its run ends as failed. */
export const MAX_ATTEMPTS = 3;

/** How many turns in a row may have a refused call before the run ends as task_failed. */
export const MAX_MISSES = 3;

/** Limits that a run was started with; they are saved with it, so that a takeover keeps them. */
export interface RunLimits {
  /** RUN_MAX_TOOL_CALLS */
  toolCalls: number;
  /** TOOL_RESULT_TIMEOUT_SECONDS, in ms */
  toolResultMs: number;
}

export interface Usage {
  input: number;
  output: number;
}

/** Who approves a call: the visitor, or an operator. */
export type Approver = "visitor" | "operator";

/** A tool call of the model, resolved to the tool that is meant and ready to be made. */
export interface Call {
  callId: string;
  /** `page`: run by the visitor's browser. `server`: run by the service. */
  kind: "page" | "server";
  /** The tool's own name, as the page or the MCP server calls it. */
  tool: string;
  /** The MCP server that has the tool, by its name in the channel's settings; only with `server`. */
  server?: string;
  arguments: Record<string, unknown>;
  /** Progress text in the visitor's language; the text of the call's steps. */
  progress: string;
  /** May the call be made again after a crash? Always false for page calls. */
  repeatable: boolean;
  /** It changes nothing, so it may be made side by side with others of its kind; absent: it may not. Such a call is repeatable. */
  readOnly?: true;
  /** It waits for the approval of this one before it is made; absent: it does not, or it has it. Never with page calls. */
  confirm?: Approver;
  /** Only while it is made side by side with others: the how manieth call of its tool in this run it is. */
  use?: number;
}

/** A tool call that is not made: unknown tool, or invalid arguments. The reason goes back to the model. */
export interface RefusedCall {
  callId: string;
  kind: "refused";
  reason: string;
}

export interface NotedResult {
  callId: string;
  text: string;
  isError: boolean;
}

export type RunOutcome = "done" | "failed" | "cancelled" | "expired" | "superseded";

export interface RunContext {
  id: string;
  saidAtMs: number;
  limits: RunLimits;
  attempt: number;
  /** Turns in a row with a refused call. */
  misses: number;
  /** Calls of this turn that have no result yet, in the model's order; the first ones are under way (callsUnderWay). */
  calls: Call[];
  /** How often each tool was called in this run; step ids are made from it. */
  uses: Record<string, number>;
  toolCalls: number;
  /** It answers nobody's message: the service wants something said. */
  unasked?: true;
  /** A message waits for the beginning of its next turn. */
  steered?: true;
  /** When the pending page call, or the call that waits for approval, expires; null while none does. */
  deadlineMs: number | null;
  /** The last tool answer, cut to a hint; null if no tool has answered. */
  hint: string | null;
  /** Summed over the run's model calls; null until a call has reported its usage. */
  usage: Usage | null;
}

/** A run that begins with a user's message, or with what the service wants said. */
export function beginRun(said: {
  type: "user.said" | "reply.again" | "service.instructed";
  runId: string;
  atMs: number;
  limits: RunLimits;
}): RunContext {
  return {
    id: said.runId,
    saidAtMs: said.atMs,
    limits: said.limits,
    attempt: 1,
    misses: 0,
    calls: [],
    uses: {},
    toolCalls: 0,
    deadlineMs: null,
    hint: null,
    usage: null,
    ...(said.type === "service.instructed" ? { unasked: true as const } : {}),
  };
}

/** The first call that has no result yet. */
export function currentCall(run: RunContext): Call {
  const call = run.calls[0];
  if (!call) throw new Error("The run has no call under way");
  return call;
}

/** How many calls are made side by side at most. */
export const MOST_SIDE_BY_SIDE = 8;

/** The calls under way: those that are made side by side, or else the first one. */
export function callsUnderWay(run: RunContext): Call[] {
  const together = run.calls.filter(({ use }) => use !== undefined);
  return together.length > 0 ? together : [currentCall(run)];
}

/**
 * Begins the next calls, which count from now on: calls that follow each other and only read, side by side, up to
 * MOST_SIDE_BY_SIDE and as many as the run may still make; else the first one alone.
 */
export function beginCalls(run: RunContext): RunContext {
  const room = Math.min(MOST_SIDE_BY_SIDE, run.limits.toolCalls - run.toolCalls);
  const other = run.calls.findIndex(({ readOnly, confirm }) => !readOnly || confirm !== undefined);
  const count = Math.min(other === -1 ? run.calls.length : other, room);
  if (count < 2) return counted(run, currentCall(run).tool);
  let begun = run;
  const together = run.calls.slice(0, count).map((call) => {
    begun = counted(begun, call.tool);
    return { ...call, use: usesOf(begun, call.tool) };
  });
  return { ...begun, calls: [...together, ...run.calls.slice(count)] };
}

/** The first call is approved: it is made when it is next, and by no other approval. */
export function approveCall(run: RunContext): RunContext {
  const { confirm: _, ...approved } = currentCall(run);
  return { ...run, calls: [approved, ...run.calls.slice(1)], deadlineMs: null };
}

function counted(run: RunContext, tool: string): RunContext {
  return { ...run, uses: { ...run.uses, [tool]: usesOf(run, tool) + 1 }, toolCalls: run.toolCalls + 1 };
}

/** A call under way has its result. What is left of those beside it keeps its count of attempts: all are one step. */
export function dropCall(run: RunContext, callId: string): RunContext {
  const index = run.calls.findIndex((call) => call.callId === callId);
  const calls = run.calls.toSpliced(index, 1);
  const isLast = !calls.some(({ use }) => use !== undefined);
  return { ...run, calls, deadlineMs: null, attempt: isLast ? 1 : run.attempt };
}

/** How often a tool was called in this run. Own keys only: a page may name its tool `constructor`. */
export function usesOf(run: RunContext, tool: string): number {
  return Object.hasOwn(run.uses, tool) ? (run.uses[tool] ?? 0) : 0;
}

/** What a tool has for the visitor. `shown`: the text of its step; absent: its progress text. `sources`: the documents that it found. */
export interface Shown {
  shown?: string;
  sources?: Source[];
}

/** A step of a call under way. */
export function stepLine(
  run: RunContext,
  call: Call,
  phase: StepPhase,
  { shown, sources }: Shown = {},
): StepLine {
  const { tool, progress, use = usesOf(run, tool) } = call;
  const text = shown ?? textIn(progress, phase);
  const line: StepLine = { type: "step", id: stepId(tool, use), phase, text };
  return sources === undefined ? line : { ...line, sources };
}

/** Between what a call does and what it has done, where its model has said both. */
const BAR = " | ";

/** "Searching the shop …" while the call is made, and "Searched the shop" when it is. */
function textIn(progress: string, phase: StepPhase): string {
  const at = progress.indexOf(BAR);
  if (at < 0) return progress;
  return phase === "done" ? progress.slice(at + BAR.length) : progress.slice(0, at);
}

/**
 * The tool's name; for its second call `name#2` (contract, Steps). A page may name a tool `name#2`: its first call gets
 * `name#2#1`, so that no two calls of a run share an id.
 */
function stepId(tool: string, use: number): string {
  return use <= 1 && !/#\d+$/.test(tool) ? tool : `${tool}#${use}`;
}

export function addUsage(sum: Usage | null, usage: Usage | null): Usage | null {
  if (!usage) return sum;
  return { input: (sum?.input ?? 0) + usage.input, output: (sum?.output ?? 0) + usage.output };
}

export function isMade(call: Call | RefusedCall): call is Call {
  return call.kind !== "refused";
}
