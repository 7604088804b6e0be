import { isDeepStrictEqual } from "node:util";
import { PROGRESS } from "../agent/tools/arguments.ts";
import type { RecordedCall, RecordedExchange } from "./case.ts";

/** A call made in a replay. */
export interface MadeCall {
  /** The name that the model was offered. */
  tool: string;
  arguments: Record<string, unknown>;
  /** The arguments as the model wrote them. */
  text: string;
}

/** The recorded calls of one case, which answer those of its replay. */
export interface Recording {
  /**
   * The recorded call of the same tool with the same arguments: preferably of this exchange, and one that was not used yet.
   * null: there is no such call.
   */
  find(exchange: number, call: MadeCall): RecordedCall | null;
}

export function createRecording(exchanges: readonly RecordedExchange[]): Recording {
  const used = new Set<RecordedCall>();
  const all = exchanges.flatMap(({ calls }, exchange) => calls.map((call) => ({ call, exchange })));
  return {
    find(exchange, made) {
      const same = all.filter(({ call }) => isSameCall(call, made));
      const [best] = same.toSorted(
        (a, b) =>
          Number(a.exchange !== exchange) - Number(b.exchange !== exchange) ||
          Number(used.has(a.call)) - Number(used.has(b.call)),
      );
      if (!best) return null;
      used.add(best.call);
      return best.call;
    },
  };
}

export function isSameCall(recorded: Pick<RecordedCall, "tool" | "arguments">, made: MadeCall): boolean {
  if (recorded.tool !== made.tool) return false;
  if (typeof recorded.arguments === "string") return made.text.startsWith(recorded.arguments);
  return isDeepStrictEqual(withoutProgress(recorded.arguments), withoutProgress(made.arguments));
}

/** The progress text for the visitor is ignored when calls are compared. */
export function withoutProgress({
  [PROGRESS]: _,
  ...rest
}: Record<string, unknown>): Record<string, unknown> {
  return rest;
}
