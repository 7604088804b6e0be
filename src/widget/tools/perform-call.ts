import type { ToolCallLine } from "../../../machines/line.ts";
import { delay } from "../service/delay.ts";
import { watchDeparture } from "./departure.ts";
import type { DepartureWatch } from "./departure.ts";
import { failure, isEmpty, resultOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";
import type { Tool } from "./tool.ts";

export interface CallOptions {
  /** Those that can be called now. */
  tools: Tool[];
  timeoutMs: number;
  signal: AbortSignal;
  /** Asks the page, and the visitor where that is wanted. */
  isAllowed(tool: Tool): Promise<boolean>;
  /** The tool is about to start: it may take the page away. */
  onStart(tool: Tool): void;
  /** The tool returned; the page may still be about to be left. */
  onReturn(result: ToolResult): void;
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
export async function performCall(call: ToolCallLine, options: CallOptions): Promise<ToolResult> {
  const tool = options.tools.find((offered) => offered.name === call.tool);
  const departure = watchDeparture();
  try {
    const result =
      tool === undefined
        ? failure(`There is no tool named ${call.tool} on this page`)
        : await allowedResult(tool, call, options);
    options.onReturn(result);
    await settle(departure, isEmpty(result) ? SETTLE_EMPTY_MS : SETTLE_MS);
    if (departure.leaving()) await departure.stayed(DEPARTURE_MS);
    options.signal.throwIfAborted();
    return result;
  } finally {
    departure.stop();
  }
}

async function allowedResult(tool: Tool, call: ToolCallLine, options: CallOptions): Promise<ToolResult> {
  if (!(await options.isAllowed(tool))) return failure("The visitor declined");
  options.signal.throwIfAborted();
  options.onStart(tool);
  return await resultWithin(tool, call, options);
}

async function resultWithin(
  tool: Tool,
  call: ToolCallLine,
  { timeoutMs, signal }: CallOptions,
): Promise<ToolResult> {
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
