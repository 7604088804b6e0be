import { APIConnectionError } from "openai";
import type { AttachedImage, Model, ModelMessage, ModelTurn, OfferedTool } from "../model.ts";
import { KeyRefused } from "./faults.ts";
import { plainPicture } from "./plain-picture.ts";

/** What a model did in the check. `note`: why it failed, if that is known. */
export interface ModelReport {
  model: string;
  /** How it was asked. */
  way: string | null;
  word: boolean;
  stream: boolean;
  toolCall: boolean;
  secondTurn: boolean;
  usage: boolean;
  images: boolean;
  note: string | null;
}

const CLOCK: OfferedTool = {
  name: "clock",
  description: "Tells the present time.",
  parameters: { type: "object", properties: {} },
};
const SYSTEM: ModelMessage = { role: "system", content: "Answer briefly." };

/** A model that sees nothing would not guess this colour: such models say red or blue, or that they see nothing. */
const PURPLE = [128, 0, 160] as const;
const SAYS_PURPLE = /\b(purple|violet)\b/i;

/** Asks a model for a short answer, a stream, a tool call, an answer from its result, and the colour of a picture. */
export async function checkModel(model: Model, name: string, signal: AbortSignal): Promise<ModelReport> {
  const ask = (
    text: string,
    more: { tools?: OfferedTool[]; after?: ModelMessage[]; images?: AttachedImage[] } = {},
  ): Promise<ModelTurn> => {
    const { tools = [], after = [], images } = more;
    const user = { role: "user" as const, content: text, ...(images ? { images } : {}) };
    const messages = [SYSTEM, user, ...after];
    const request = { model: name, messages, tools, maxOutputTokens: null, traceparent: null };
    return model.stream(request, () => {}, signal);
  };
  const report: ModelReport = {
    model: name,
    way: model.wayOf?.(name) ?? null,
    word: false,
    stream: false,
    toolCall: false,
    secondTurn: false,
    usage: false,
    images: false,
    note: null,
  };

  async function tryOut(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      signal.throwIfAborted();
      report.note ??= noteOf(error);
    }
  }

  await tryOut(async () => {
    const said = await ask("Count from one to twenty, in words.");
    report.word = said.text.trim() !== "";
    report.stream = report.word && said.isWhole !== true;
    report.usage = said.usage !== null;
  });
  // A model that cannot chat is asked nothing else.
  if (!report.word) return report;

  await tryOut(async () => {
    const question = "What time is it now? Use the clock.";
    const tools = [CLOCK];
    const called = await ask(question, { tools });
    report.toolCall = called.calls[0]?.name === CLOCK.name;
    if (!report.toolCall) return;
    const { text: content, calls, by, extra } = called;
    const turn = { role: "assistant" as const, content, calls, by, ...(extra ? { extra } : {}) };
    const results = calls.map(({ callId }) => ({ role: "tool" as const, callId, content: "12:30" }));
    const answered = await ask(question, { tools, after: [turn, ...results] });
    report.secondTurn = answered.text.trim() !== "";
  });

  await tryOut(async () => {
    const images = [{ label: "picture.png", url: plainPicture(PURPLE) }];
    const seen = await ask("Which colour is this picture? Answer with its name alone.", { images });
    report.images = SAYS_PURPLE.test(seen.text);
  });
  return report;
}

/** The visitor's sentence is the same for all faults of a kind; an operator also needs to know where to look. */
function noteOf(error: unknown): string {
  if (!(error instanceof Error)) return "It failed";
  if (error instanceof KeyRefused) return `${error.message}: it does not take the key`;
  const code = connectionCode(error);
  return code === null ? error.message : `${error.message}: ${code}; look at its base URL`;
}

/** The system's code for a connection error, such as ECONNREFUSED or ENOTFOUND; never an address. */
function connectionCode(error: Error): string | null {
  if (!(error.cause instanceof APIConnectionError)) return null;
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string") return cause.code;
  }
  return null;
}
