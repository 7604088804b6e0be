import type { ToolCallLine } from "../../../machines/line.ts";
import { delay } from "../service/delay.ts";
import { failure, isEmpty, resultOf } from "./tool-result.ts";
import type { ToolResult } from "./tool-result.ts";
import type { Tool } from "./tool.ts";
import { watchNavigation } from "./watch-navigation.ts";
import type { NavigationWatch } from "./watch-navigation.ts";

export interface CallOptions {
  tools: Tool[];
  timeoutMs: number;
  signal: AbortSignal;
  isAllowed(tool: Tool): Promise<boolean>;
  /** The tool is about to start, and may navigate. */
  onStart(tool: Tool): void;
  /** The tool returned; a navigation may still follow. */
  onReturn(result: ToolResult): void;
}

/** A tool may navigate a moment after it returned. */
const SETTLE_MS = 40;

/** A tool that returned nothing probably navigates, especially a form. */
const SETTLE_EMPTY_MS = 1_000;

/** A navigation that takes longer never happens: a 204, or a prompt that the visitor declined. */
const MAX_NAVIGATION_MS = 10_000;

/**
 * Runs the page tool of a tool_call line. Every outcome, including a failure, is a result for the agent. If the tool
 * leaves the page, this never resolves; the next page finds the saved run and answers.
 */
export async function performCall(call: ToolCallLine, options: CallOptions): Promise<ToolResult> {
  const tool = options.tools.find((offered) => offered.name === call.tool);
  const navigation = watchNavigation();
  try {
    const result =
      tool === undefined
        ? failure(`There is no tool named ${call.tool} on this page`)
        : await allowedResult(tool, call, options);
    options.onReturn(result);
    await settled(navigation, isEmpty(result) ? SETTLE_EMPTY_MS : SETTLE_MS);
    if (navigation.isLeaving()) await navigation.stayed(MAX_NAVIGATION_MS);
    options.signal.throwIfAborted();
    return result;
  } finally {
    navigation.stop();
  }
}

async function allowedResult(tool: Tool, call: ToolCallLine, options: CallOptions): Promise<ToolResult> {
  const isAllowed = await options.isAllowed(tool);
  options.signal.throwIfAborted();
  if (!isAllowed) return failure("The visitor declined");
  options.onStart(tool);
  return await resultWithin(tool, call, options);
}

async function resultWithin(
  tool: Tool,
  call: ToolCallLine,
  { timeoutMs, signal }: CallOptions,
): Promise<ToolResult> {
  // No time limit while the visitor fills in a form.
  const limit = tool.waitsForForm ? null : AbortSignal.timeout(timeoutMs);
  const either = limit === null ? signal : AbortSignal.any([signal, limit]);
  try {
    return resultOf(
      await Promise.race([tool.execute(call.arguments, { signal: either }), rejection(either)]),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (limit?.aborted === true) return failure(`The tool did not answer within ${timeoutMs / 1000} seconds`);
    return failure(`Tool failed: ${wordsOf(error)}`);
  }
}

/** A page may throw anything, even values that cannot be converted to text. */
function wordsOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "what it threw is no text";
  }
}

/** Waits until the page is being left, for at most `ms`. */
async function settled(navigation: NavigationWatch, ms: number): Promise<void> {
  for (let left = ms; left > 0 && !navigation.isLeaving(); left -= SETTLE_MS) await delay(SETTLE_MS);
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
