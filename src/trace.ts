import type { Call } from "../machines/run.ts";
import type { RunRecord } from "./domain/threads/message.ts";
import type { ModelRequest, ModelTurn } from "./model.ts";

/**
 * The trace contract: spans of requests, of runs while they are active, of model calls and of tools.
 * Implementation: traces/opentelemetry.ts. If traces are off there is no `Tracing`, so that `tracing?.…` costs nothing.
 *
 * A trace's context is passed on as a W3C traceparent, its form on the wire: a request's context goes into the thread and
 * its queue, a segment's into its model calls and tools, and theirs to model servers and MCP servers.
 */
export interface Tracing {
  /** A request of the API. */
  request(asked: AskedRequest): RequestSpan;
  /** A part of a run, from its beginning or continuation to its rest or end. Nothing is exported before `begin`. */
  segment(active: SegmentStart): Segment;
  /** A request to a provider's model. */
  chat(call: ChatCall, ask: (traceparent: string) => Promise<ModelTurn>): Promise<ModelTurn>;
  /** A call of a server-side tool. */
  tool(call: ToolUse, use: (traceparent: string) => Promise<ToolResult>): Promise<ToolResult>;
  /** A page tool's call that has ended. */
  pageTool(call: PageToolUse): void;
}

export interface AskedRequest {
  method: string;
  route: string;
  /** The traceparent of a caller with a key. */
  parent: string | null;
  /** That of any other caller, who decides neither the trace nor whether it is recorded. */
  link: string | null;
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
  /** The traceparent of the request that began or continued the run. */
  parent: string | null;
  /** The traceparent of the segment before it. */
  after: string | null;
}

export interface Segment {
  readonly traceparent: string;
  /** The change that begins the segment is saved. */
  begin(): void;
  /** `error`: the code with which it failed; null: it did not fail. */
  end(how: { end: SegmentEnd; error: string | null }): void;
}

/** `page`, `person`: the run waits for one. */
export type SegmentEnd = "page" | "person" | "interrupted" | "deleted" | NonNullable<RunRecord["outcome"]>;

export interface ChatCall {
  provider: string;
  /** As the provider names it. */
  model: string;
  /** Its `traceparent` is that of the segment. */
  request: ModelRequest;
}

export interface ToolUse {
  call: Call;
  /** That of the segment. */
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
  /** null: there was none; `error` says why. */
  result: ToolResult | null;
  error: string | null;
}

/** The fields that tie a log line to its trace. */
export function traceFields(traceparent: string): { trace_id: string; span_id: string } {
  const [, traceId = "", spanId = ""] = traceparent.split("-");
  return { trace_id: traceId, span_id: spanId };
}
