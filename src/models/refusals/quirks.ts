/**
 * Where a server differs from the API, for one of its models. Its row in profiles.ts and the provider's settings declare
 * some of it; the rest is learned from refusals (learn.ts), and asked again after an hour (known-quirks.ts).
 */
export interface Quirks {
  /** false: no tools are offered, and calls of the history are sent as text. */
  tools: boolean;
  /** false: the system message's text is put before the first message of the user. */
  systemRole: boolean;
  /** false: it sees no images, and gets their names instead. */
  images: boolean;
  /** false: streams are requested without usage. */
  streamUsage: boolean;
  /** null: it takes neither, so the answer's length is not limited. */
  maxTokensField: MaxTokensField | null;
  /** `open`: the model's template opens the thought, so only `</think>` arrives. No refusal teaches this. */
  thinking: "tags" | "open";
  /** A text that is nothing but calls of offered tools is these calls (text-calls.ts). Only the settings say so. */
  textCalls: boolean;
  /** The text of a message that has only calls. */
  noContent: "null" | "empty" | "absent";
  /** After the results of calls an answer must come before the next message of the user. */
  answersResults: boolean;
  /** Arguments of calls are sent back as objects, not as JSON text. */
  objectArguments: boolean;
  /** Ids of calls must be nine letters and digits, even if the server itself sent others. */
  nineCharIds: boolean;
  /** A message with calls must carry its thoughts, even if there were none. */
  reasoningField: boolean;
  /** Calls of an unknown model are sent as text: they lack fields that this model requires with its calls. */
  tellsUnknownCalls: boolean;
  /** With tools the effort of its thoughts must say `none`. */
  effortNone: boolean;
  /** Keywords of tools' schemas that it refused. */
  schemaKeywords: readonly string[];
  /** Hashes of tools whose form it refused (refused-tools.ts). */
  refusedTools: readonly string[];
  /** Fields of the request or of its messages that it refused. */
  leftOut: readonly string[];
  /** The most tokens of input that it takes, by the estimate of the request's `fit`; null: nothing is known of a limit. */
  maxInputTokens: number | null;
}

export type MaxTokensField = "max_completion_tokens" | "max_tokens";

export const NO_QUIRKS: Quirks = {
  tools: true,
  systemRole: true,
  images: true,
  streamUsage: true,
  maxTokensField: "max_completion_tokens",
  thinking: "tags",
  textCalls: false,
  noContent: "null",
  answersResults: false,
  objectArguments: false,
  nineCharIds: false,
  reasoningField: false,
  tellsUnknownCalls: false,
  effortNone: false,
  schemaKeywords: [],
  refusedTools: [],
  leftOut: [],
  maxInputTokens: null,
};
