import type { ToolCallLine } from "../../../machines/line.ts";
import { watchDeparture } from "./departure.ts";
import type { DepartureWatch } from "./departure.ts";
import type { PageHost } from "../run/page-host.ts";
import type { ResultBody } from "../run/run-record.ts";
import type { Decision } from "../view/state.ts";
import { failure, isEmpty, resultOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";
import type { Tool } from "./tools.ts";

export interface CallParts {
  host: PageHost;
  signal: AbortSignal;
  /** Asks the visitor, unless this tool was allowed for the conversation. */
  ask(tool: Tool, args: Record<string, unknown>): Promise<Decision>;
  /** The tool is about to start. Remembered before it runs: it may take the page away. */
  onStart(tool: Tool): void;
  onResult(body: ResultBody): void;
}

/** A tool that returned may still be about to navigate; one that returned nothing most likely is, a form above all. */
const SETTLE_MS = 40;
const SETTLE_EMPTY_MS = 1_000;

/** A departure that did not happen within this time (a 204, a prompt that was declined) is none. */
const DEPARTURE_MS = 10_000;

/**
 * Runs the page tool of a tool_call line. Every way it can go is a result for the agent; what never resolves is a page
 * that is left: the next one finds the record and answers.
 */
export async function performCall(call: ToolCallLine, parts: CallParts): Promise<ResultBody> {
  const { host, signal } = parts;
  const tool = (await host.tools()).find((offered) => offered.name === call.tool);
  const departure = watchDeparture();
  try {
    const outcome =
      tool === undefined
        ? failure(`There is no tool named ${call.tool} on this page`)
        : await allowedOutcome(tool, call, parts);
    const body: ResultBody = { callId: call.callId, tool: call.tool, ...outcome };
    // A text is kept at once: the page may have milliseconds left. Of an empty result the next page can say more.
    if (!isEmpty(outcome)) parts.onResult(body);
    host.emit("tool-result", { tool: call.tool, ...outcome });
    await settle(departure, isEmpty(outcome) ? SETTLE_EMPTY_MS : SETTLE_MS);
    if (departure.leaving()) await departure.stayed(DEPARTURE_MS);
    signal.throwIfAborted();
    parts.onResult(body);
    return body;
  } finally {
    departure.stop();
  }
}

async function allowedOutcome(tool: Tool, call: ToolCallLine, parts: CallParts): Promise<ToolResult> {
  const { host, signal } = parts;
  const annotations = tool.annotations ?? {};
  const isLet = host.emit("before-tool", { tool: tool.name, arguments: call.arguments, annotations });
  if (!isLet || (asksFirst(tool, host) && (await parts.ask(tool, call.arguments)) === "decline")) {
    return failure("The visitor declined");
  }
  signal.throwIfAborted();
  parts.onStart(tool);
  return await outcomeOf(tool, call, parts);
}

function asksFirst({ annotations = {} }: Tool, host: PageHost): boolean {
  switch (host.confirmTools()) {
    case "all":
      return true;
    case "writes":
      return annotations.readOnlyHint !== true;
    case "consequential":
      return annotations.consequentialHint === true;
    case "none":
      return false;
  }
}

async function outcomeOf(tool: Tool, call: ToolCallLine, { host, signal }: CallParts): Promise<ToolResult> {
  const timeoutMs = host.toolTimeoutMs();
  // A form that waits for the visitor takes the time that the visitor takes.
  const limit = tool.waitsForForm ? null : AbortSignal.timeout(timeoutMs);
  const either = limit === null ? signal : AbortSignal.any([signal, limit]);
  try {
    return resultOf(await Promise.race([tool.run(call.arguments, either), rejection(either)]));
  } catch (error) {
    signal.throwIfAborted();
    if (limit?.aborted === true) return failure(`The tool did not answer within ${timeoutMs / 1000} seconds`);
    return failure(`Tool failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Waits for a departure, and no longer than that. */
async function settle(departure: DepartureWatch, ms: number): Promise<void> {
  for (let left = ms; left > 0 && !departure.leaving(); left -= SETTLE_MS) await delay(SETTLE_MS);
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
