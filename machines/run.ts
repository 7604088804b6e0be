import type { StepLine, StepPhase } from "./line.ts";

/**
 * What a thread's chart knows of its active run: only what decides the next move. What the run said, and what the model
 * saw, is kept beside the snapshot.
 */

/** How often a step may be tried, the first time included, before its run ends as failed. */
export const MAX_ATTEMPTS = 3;

/** How many turns in a row may call what does not exist or does not fit, before the run ends as task_failed. */
export const MAX_MISSES = 3;

/** Limits that a run was started with; they travel with it to whoever takes it over. */
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
  /** May the call be made again after a crash? Page calls never are. */
  repeatable: boolean;
}

/** A tool call that is not made: no such tool, or arguments that do not fit. The reason goes back to the model. */
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
  /** Calls of this turn that have no result yet, in the model's order; the first one is under way. */
  calls: Call[];
  /** How often each tool was called in this run: makes step ids. */
  uses: Record<string, number>;
  toolCalls: number;
  /** When the pending page call expires; null while none is pending. */
  deadlineMs: number | null;
  /** The last tool answer, cut to a hint; null where no tool has answered. */
  hint: string | null;
  /** Summed over the run's model calls; null while no call has told its usage. */
  usage: Usage | null;
}

/** A run that begins with a user's message. */
export function beginRun(said: { runId: string; atMs: number; limits: RunLimits }): RunContext {
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
  };
}

/** The call under way: the first that has no result yet. */
export function currentCall(run: RunContext): Call {
  const call = run.calls[0];
  if (!call) throw new Error("The run has no call under way");
  return call;
}

/** How often a tool was called in this run. A page may call its tool `constructor`: only the run's own counts count. */
export function usesOf(run: RunContext, tool: string): number {
  return Object.hasOwn(run.uses, tool) ? (run.uses[tool] ?? 0) : 0;
}

/** A step of the call under way. */
export function stepLine(run: RunContext, phase: StepPhase): StepLine {
  const { tool, progress } = currentCall(run);
  return { type: "step", id: stepId(tool, usesOf(run, tool)), phase, text: progress };
}

/**
 * The tool's name; of a second call of the same tool `name#2` (contract, Steps). A page may call a tool `name#2`: its first
 * call is `name#2#1`, so that no two calls of a run share an id.
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
