import type { Money } from "../agent.ts";
import { addUsage } from "../../machines/run.ts";
import type { Usage } from "../../machines/run.ts";
import type { ArrivedAnswer, OfferedTool, Prices, SentRequest } from "../model.ts";
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
  /** The same in money, of the requests to models whose price is known; null: of none is. */
  money: () => Money | null;
}

/** `tools`: those that each request offers. `prices`: of the models; absent: nobody has said. */
export function createTurnCost(tools: readonly OfferedTool[], prices?: Prices): TurnCost {
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

  function microsOf(request: SentRequest): number | null {
    const { by = "" } = request;
    const price = prices && Object.hasOwn(prices.perMillionTokens, by) ? prices.perMillionTokens[by] : null;
    const cost = price && costOf(request);
    // A price is of a million tokens.
    return price && cost ? cost.input * price.input + cost.output * price.output : null;
  }

  return {
    sent: (request) => void requests.push(request),
    soFar: () => requests.map(costOf).reduce(addUsage, null),
    money() {
      const micros = requests.map(microsOf).filter((one) => one !== null);
      if (!prices || micros.length === 0) return null;
      return { currency: prices.currency, micros: Math.round(micros.reduce((sum, one) => sum + one, 0)) };
    },
  };
}

const NOTHING: ArrivedAnswer = { usage: null, bytes: 0, isFinished: false, firstTextAtMs: null };

function outputOf({ bytes }: ArrivedAnswer): number {
  return Math.ceil(bytes / 4);
}
