import { cutText } from "../../../machines/line.ts";
import type { Extra, ModelMessage, OfferedTool, UserMessage } from "../../model.ts";

/** Tokens of each message besides its text: role, separators and ids. */
export const MESSAGE_TOKENS = 8;

/** Models count an image by its tiles: some hundreds to 1,600 tokens, whatever the length of its file. */
const IMAGE_TOKENS = 1_000;

/** The length to which a long text is shortened. */
const SHORTENED_CHARS = 200;
const SHORTENED_NOTE = "\n[shortened: the rest of this text no longer fits]";

/**
 * Estimates the tokens of messages: UTF-8 bytes divided by four. This is the usual four characters for English, and close to
 * the results of current tokenizers for other scripts (about 0.5 for a Cyrillic letter, 0.75 for a Chinese character), where
 * characters divided by four would be far too few.
 */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + MESSAGE_TOKENS + Math.ceil(bytesOf(message) / 4), 0);
}

/** Estimates the tokens of the tools of a request, in the same way. */
export function estimateTools(tools: readonly OfferedTool[]): number {
  return tools.length === 0 ? 0 : Math.ceil(Buffer.byteLength(JSON.stringify(tools)) / 4);
}

function bytesOf(message: ModelMessage): number {
  if (message.role === "user") return Buffer.byteLength(message.content) + imageBytes(message);
  if (message.role !== "assistant") return Buffer.byteLength(message.content);
  return message.calls.reduce(
    (sum, { name, arguments: args, extra }) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(args) + extraBytes(extra),
    Buffer.byteLength(message.content) + extraBytes(message.extra),
  );
}

function imageBytes({ images = [] }: UserMessage): number {
  return images.reduce((sum, { url, label }) => sum + (url === null ? label.length : IMAGE_TOKENS * 4), 0);
}

function extraBytes(extra: Extra | undefined): number {
  return extra === undefined ? 0 : Buffer.byteLength(JSON.stringify(extra));
}

/**
 * The newest earlier exchanges that fit, oldest first. An exchange is a message with the calls that led to it and their
 * results; it is kept or left out as a whole. Everything older than the first one that does not fit is left out.
 */
export function newestThatFit(exchanges: readonly ModelMessage[][], budgetTokens: number): ModelMessage[] {
  let left = budgetTokens;
  let first = exchanges.length;
  while (first > 0) {
    left -= estimateTokens(exchanges[first - 1] ?? []);
    if (left < 0) break;
    first -= 1;
  }
  return exchanges.slice(first).flat();
}

/**
 * The present run always stays, each of its calls with its result. If it alone is over the budget, its long texts are
 * shortened, oldest first, until it fits or no long text is left; the user's text is never shortened.
 */
export function shortenToFit(run: readonly ModelMessage[], budgetTokens: number): ModelMessage[] {
  const fitting = [...run];
  let tokens = estimateTokens(fitting);
  for (const [index, message] of run.entries()) {
    if (tokens <= budgetTokens) break;
    const short = shortened(message);
    tokens += estimateTokens([short]) - estimateTokens([message]);
    fitting[index] = short;
  }
  return fitting;
}

function shortened(message: ModelMessage): ModelMessage {
  switch (message.role) {
    case "system":
    case "user":
      return message;
    case "tool":
      return { ...message, content: shortText(message.content) };
    case "assistant": {
      // Still a JSON object: some servers parse the arguments of earlier calls.
      const calls = message.calls.map((call) =>
        call.arguments.length > SHORTENED_CHARS
          ? { ...call, arguments: JSON.stringify({ shortened: cutText(call.arguments, SHORTENED_CHARS) }) }
          : call,
      );
      return { ...message, content: shortText(message.content), calls };
    }
  }
}

function shortText(text: string): string {
  const isLonger = text.length > SHORTENED_CHARS + SHORTENED_NOTE.length;
  return isLonger ? cutText(text, SHORTENED_CHARS) + SHORTENED_NOTE : text;
}
