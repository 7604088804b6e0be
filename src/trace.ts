import type { Call } from "../machines/run.ts";
import type { RunRecord } from "./domain/message.ts";
import type { ModelRequest, ModelTurn } from "./model.ts";

/**
 * The trace contract: spans of requests, of runs while they are active, of model calls and of tools.
 * Implementation: traces/opentelemetry.ts. Where traces are off there is no `Tracing` at all: `tracing?.…` makes nothing.
 *
 * A trace's context is passed on as what it is on the wire, a W3C traceparent: the one of a request goes into the thread
 * and its queue, the one of a segment into its model calls and tools, and theirs out to models and MCP servers.
 */
export interface Tracing {
  /** A request of the API; `traceparent`: its caller's. */
  request(asked: { method: string; route: string; traceparent: string | null }): RequestSpan;
  /** Part of a run, from where it begins or goes on to where it rests or ends. Nothing is told of it before `begin`. */
  segment(active: SegmentStart): Segment;
  /** A request to a provider's model. */
  chat(call: ChatCall, ask: (traceparent: string) => Promise<ModelTurn>): Promise<ModelTurn>;
  /** A call of a server-side tool. */
  tool(call: ToolUse, use: (traceparent: string) => Promise<ToolResult>): Promise<ToolResult>;
  /** A call of a page's tool, which is over. */
  pageTool(call: PageToolUse): void;
}

export interface RequestSpan {
  readonly traceparent: string;
  end(status: number): void;
}

export interface SegmentStart {
  /** Our id of the thread. */
  uid: string;
  slug: string;
  runId: string;
  /** Of the request that made the run go on. */
  parent: string | null;
  /** The segment that it goes on from. */
  after: string | null;
}

export interface Segment {
  readonly traceparent: string;
  /** It goes on in truth: what it began with is saved. */
  begin(): void;
  /** `error`: by which code it failed; null: it did not. */
  end(how: { end: SegmentEnd; error: string | null }): void;
}

/** `page`, `person`: who is waited for. */
export type SegmentEnd = "page" | "person" | "interrupted" | "deleted" | NonNullable<RunRecord["outcome"]>;

export interface ChatCall {
  provider: string;
  /** As the provider names it. */
  model: string;
  /** `traceparent`: of the segment that asks. */
  request: ModelRequest;
}

export interface ToolUse {
  call: Call;
  /** Of the segment that calls. */
  traceparent: string | null;
}

export interface ToolResult {
  text: string;
  isError: boolean;
}

export interface PageToolUse {
  uid: string;
  tool: string;
  callId: string;
  arguments: Record<string, unknown>;
  /** The segment that called it. */
  traceparent: string;
  calledAtMs: number;
  endedAtMs: number;
  /** null: none came, for the reason `error`. */
  result: ToolResult | null;
  error: string | null;
}

/** What a line of the log says of the trace that it belongs to. */
export function traceFields(traceparent: string): { trace_id: string; span_id: string } {
  const [, traceId = "", spanId = ""] = traceparent.split("-");
  return { trace_id: traceId, span_id: spanId };
}
