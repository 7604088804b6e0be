import type { StepLine, StepPhase } from "./line.ts";

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
  /** Calls of this turn that have no result yet, in the model's order; the first one is under way. */
  calls: Call[];
  /** How often each tool was called in this run; step ids are made from it. */
  uses: Record<string, number>;
  toolCalls: number;
  /** When the pending page call expires; null while none is pending. */
  deadlineMs: number | null;
  /** The last tool answer, cut to a hint; null if no tool has answered. */
  hint: string | null;
  /** Summed over the run's model calls; null until a call has reported its usage. */
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

/** How often a tool was called in this run. Own keys only: a page may name its tool `constructor`. */
export function usesOf(run: RunContext, tool: string): number {
  return Object.hasOwn(run.uses, tool) ? (run.uses[tool] ?? 0) : 0;
}

/** A step of the call under way. `shown`: its text, where the tool has something to show to the visitor. */
export function stepLine(run: RunContext, phase: StepPhase, shown?: string): StepLine {
  const { tool, progress } = currentCall(run);
  return { type: "step", id: stepId(tool, usesOf(run, tool)), phase, text: shown ?? progress };
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
