import { cutText } from "../../machines/line.ts";
import type { Extra, ModelMessage, UserMessage } from "../model.ts";

/** Role, separators and ids that each message costs beside its text. */
const MESSAGE_TOKENS = 8;

/** Models count an image by its tiles: some hundreds to 1,600 tokens, whatever the length of its file. */
const IMAGE_TOKENS = 1_000;

/** What is left of a text that had to be shortened. */
const SHORTENED_CHARS = 200;
const SHORTENED_NOTE = "\n[shortened: the rest of this text no longer fits]";

/**
 * Tokens that messages cost, estimated: UTF-8 bytes over four. That is the usual four characters for English, and
 * close to what current tokenizers make of other scripts (about 0.5 a letter of Cyrillic, 0.75 a Chinese character),
 * where characters over four would be far too few.
 */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + MESSAGE_TOKENS + Math.ceil(bytesOf(message) / 4), 0);
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
 * The newest of the earlier exchanges that fit, oldest first. An exchange, a message with the calls that led to it and
 * their results, is kept or left out whole; nothing older than the first that does not fit is kept.
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
 * The present run always stays, each of its calls with its result. Where it alone is over the budget, its long texts
 * are shortened, oldest first, until it fits or none is left; what the user said is never touched.
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
      // Still a JSON object: some servers parse what they are given back.
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
