import type { Model, SentRequest, Wrote } from "../model.ts";
import type { Instruments } from "./instruments.ts";

/** The same model with each turn timed. */
export function timedModel(model: Model, { firstTexts, turns, tokens, modelEnds }: Instruments): Model {
  return {
    ...model,
    async stream(request, wrote, signal) {
      const { model: name } = request;
      const beganAt = performance.now();
      const seconds = () => (performance.now() - beganAt) / 1000;
      const timedWrote = onFirst(wrote, () => firstTexts.observe({ model: name }, seconds()));
      const requests: SentRequest[] = [];
      const sent = (one: SentRequest) => {
        requests.push(one);
        request.sent?.(one);
      };
      try {
        const turn = await model.stream({ ...request, sent }, timedWrote, signal);
        turns.observe({ model: name, outcome: "done" }, seconds());
        modelEnds.inc({ model: name, reason: endLabel(turn.finishReason) });
        return turn;
      } catch (error) {
        turns.observe({ model: name, outcome: signal.aborted ? "aborted" : "failed" }, seconds());
        throw error;
      } finally {
        for (const { arrived } of requests) {
          const { usage } = arrived?.() ?? { usage: null };
          tokens.inc({ model: name, direction: "input" }, usage?.input ?? 0);
          tokens.inc({ model: name, direction: "output" }, usage?.output ?? 0);
        }
      }
    },
  };
}

/** The API's words. A server may write anything there, and each word would be a series of its own. */
const ENDS = new Set(["stop", "length", "tool_calls", "function_call", "content_filter"]);

function endLabel(reason: string | null): string {
  if (reason === null) return "none";
  return ENDS.has(reason) ? reason : "other";
}

/** Calls `first` before the first text is passed on. */
function onFirst(wrote: Wrote, first: () => void): Wrote {
  let isFirst = true;
  return (text) => {
    if (isFirst) first();
    isFirst = false;
    return wrote(text);
  };
}
