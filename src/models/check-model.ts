import type { Model, ModelMessage, ModelTurn, OfferedTool } from "../model.ts";

/** What a model was seen to do. `note`: why it did not, if that is known. */
export interface ModelReport {
  model: string;
  word: boolean;
  stream: boolean;
  toolCall: boolean;
  secondTurn: boolean;
  usage: boolean;
  note: string | null;
}

const CLOCK: OfferedTool = {
  name: "clock",
  description: "Tells the present time.",
  parameters: { type: "object", properties: {} },
};
const SYSTEM: ModelMessage = { role: "system", content: "Answer briefly." };

/** Asks a model for a word, a stream, a call of a tool, and an answer from its result. */
export async function checkModel(model: Model, name: string, signal: AbortSignal): Promise<ModelReport> {
  const ask = (text: string, tools: OfferedTool[] = [], after: ModelMessage[] = []): Promise<ModelTurn> => {
    const messages = [SYSTEM, { role: "user" as const, content: text }, ...after];
    const request = { model: name, messages, tools, maxOutputTokens: null, traceparent: null };
    return model.stream(request, () => {}, signal);
  };
  const report: ModelReport = {
    model: name,
    word: false,
    stream: false,
    toolCall: false,
    secondTurn: false,
    usage: false,
    note: null,
  };
  try {
    const said = await ask("Count from one to twenty, in words.");
    report.word = said.text.trim() !== "";
    report.stream = report.word && said.isWhole !== true;
    report.usage = said.usage !== null;
    const question = "What time is it now? Use the clock.";
    const called = await ask(question, [CLOCK]);
    const [call] = called.calls;
    report.toolCall = call?.name === CLOCK.name;
    if (call && report.toolCall) {
      const { text: content, calls, by, extra } = called;
      const turn = { role: "assistant" as const, content, calls, by, ...(extra ? { extra } : {}) };
      const results = calls.map(({ callId }) => ({ role: "tool" as const, callId, content: "12:30" }));
      report.secondTurn = (await ask(question, [CLOCK], [turn, ...results])).text.trim() !== "";
    }
  } catch (error) {
    signal.throwIfAborted();
    report.note = error instanceof Error ? error.message : "It failed";
  }
  return report;
}
