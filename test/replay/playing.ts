import { systemClock } from "../../src/clock.ts";
import type { Model, ModelCall, ModelRequest, ModelTurn } from "../../src/model.ts";
import { caseSchema } from "../../src/replay/case.ts";
import type { ReplayCase } from "../../src/replay/case.ts";
import { playCase } from "../../src/replay/play.ts";
import type { PlayOptions } from "../../src/replay/play.ts";
import { silentLog } from "../agent/run.ts";

/** A model in this process: what it says or calls, by what it is asked. */
export function modelOf(answer: (request: ModelRequest, nth: number) => string | ModelCall[]): Model & {
  asked: ModelRequest[];
} {
  const asked: ModelRequest[] = [];
  return {
    kind: "openai",
    asked,
    async stream(request, wrote, signal): Promise<ModelTurn> {
      signal.throwIfAborted();
      asked.push(request);
      const said = answer(request, asked.length - 1);
      const [text, calls] = typeof said === "string" ? [said, []] : ["", said];
      if (text !== "") await wrote(text);
      return { text, calls, usage: { input: 10, output: 2 }, by: `p/${request.model}`, finishReason: "stop" };
    },
    close: () => Promise.resolve(),
  };
}

export const calling = (name: string, args: Record<string, unknown> = {}): ModelCall[] => [
  { callId: "c1", name, arguments: JSON.stringify(args) },
];

export const caseOf = (fields: object): ReplayCase => caseSchema.parse({ name: "a case", ...fields });

export function play(model: Model, recorded: ReplayCase, more: Partial<PlayOptions> = {}) {
  return playCase(
    recorded,
    {
      model,
      defaultModel: "m",
      overrides: {},
      standIn: null,
      limits: {
        toolCalls: 50,
        toolResultMs: 600_000,
        replyChars: 1_000,
        runMs: 300_000,
        inputTokens: 32_000,
      },
      clock: systemClock,
      log: silentLog,
      ...more,
    },
    new AbortController().signal,
  );
}
