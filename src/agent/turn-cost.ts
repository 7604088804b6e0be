import { addUsage } from "../../machines/run.ts";
import type { Usage } from "../../machines/run.ts";
import type { ArrivedAnswer, OfferedTool, SentRequest } from "../model.ts";
import { estimateTokens, estimateTools } from "./history/history-budget.ts";

/**
 * What the requests of one turn cost, in tokens, while it goes on and however it ends. As the server told it; estimated
 * where it told nothing: for an answer that broke off or was left, and for servers that tell no usage. A request that the
 * server refused costs nothing; one whose answer nobody waited for costs its input.
 */
export interface TurnCost {
  sent(request: SentRequest): void;
  /** Null: none was sent, or all were refused. */
  soFar: () => Usage | null;
}

/** `tools`: those that each request offers. */
export function createTurnCost(tools: readonly OfferedTool[]): TurnCost {
  const requests: SentRequest[] = [];
  let toolTokens: number | null = null;

  const inputOf = ({ messages }: SentRequest): number =>
    estimateTokens(messages) + (toolTokens ??= estimateTools(tools));

  function costOf(request: SentRequest): Usage | null {
    if (request.isRefused) return null;
    const arrived = request.arrived?.() ?? NOTHING;
    const { usage } = arrived;
    if (!usage) return { input: inputOf(request), output: outputOf(arrived) };
    // What was told before the end did not count what came after it.
    return arrived.isFinished ? usage : { ...usage, output: Math.max(usage.output, outputOf(arrived)) };
  }

  return {
    sent: (request) => void requests.push(request),
    soFar: () => requests.map(costOf).reduce(addUsage, null),
  };
}

const NOTHING: ArrivedAnswer = { usage: null, bytes: 0, isFinished: false, firstTextAtMs: null };

function outputOf({ bytes }: ArrivedAnswer): number {
  return Math.ceil(bytes / 4);
}
