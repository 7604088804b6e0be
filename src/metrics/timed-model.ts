import type { Model, SentRequest } from "../model.ts";
import type { Instruments } from "./instruments.ts";

/** The same model with each turn timed. */
export function timedModel(model: Model, { firstTexts, turns, tokens, modelEnds }: Instruments): Model {
  return {
    ...model,
    async stream(request, wrote, signal) {
      const { model: name } = request;
      const beganAt = performance.now();
      const seconds = () => (performance.now() - beganAt) / 1000;
      const requests: SentRequest[] = [];
      const sent = (one: SentRequest) => {
        requests.push(one);
        request.sent?.(one);
      };
      try {
        const turn = await model.stream({ ...request, sent }, wrote, signal);
        turns.observe({ model: name, outcome: "done" }, seconds());
        modelEnds.inc({ model: name, reason: endLabel(turn.finishReason) });
        return turn;
      } catch (error) {
        turns.observe({ model: name, outcome: signal.aborted ? "aborted" : "failed" }, seconds());
        throw error;
      } finally {
        const answers = requests.map(({ arrived }) => arrived?.() ?? null);
        const firstTextAtMs = answers.find((answer) => answer?.firstTextAtMs != null)?.firstTextAtMs;
        if (firstTextAtMs != null) firstTexts.observe({ model: name }, (firstTextAtMs - beganAt) / 1000);
        for (const answer of answers) {
          tokens.inc({ model: name, direction: "input" }, answer?.usage?.input ?? 0);
          tokens.inc({ model: name, direction: "output" }, answer?.usage?.output ?? 0);
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
