/**
 * What a server does not take as the API says it, for one of its models. Settings of the provider say some of it
 * beforehand; the rest is learned from what it refuses (learn.ts), and remembered as long as the process lives.
 */
export interface Quirks {
  /** false: no tools are offered, and calls of the history are told in words. */
  tools: boolean;
  /** false: what the system message says stands before the first message of the user. */
  systemRole: boolean;
  /** false: it does not see, and is told of images by their names. */
  images: boolean;
  /** false: usage is not asked for in a stream. */
  streamUsage: boolean;
  /** null: it takes neither, and the answer's length is not bounded. */
  maxTokensField: MaxTokensField | null;
  /** `open`: the model's template opens the thought, so that only `</think>` comes. Nothing that is refused tells that. */
  thinking: "tags" | "open";
  /** What stands for the text of a message that has only calls. */
  noContent: "null" | "empty" | "absent";
  /** After the results of calls an answer must follow before the user speaks again. */
  answersResults: boolean;
  /** Arguments of calls are given back as objects, not as JSON text. */
  objectArguments: boolean;
  /** Ids of calls must be nine letters and digits, also where the server itself made others. */
  nineCharIds: boolean;
  /** A message with calls must carry its thoughts, also where there were none. */
  reasoningField: boolean;
  /** Calls of an unknown model are told in words: they lack what this one wants back with them. */
  tellsUnknownCalls: boolean;
  /** Keywords of tools' schemas that it refused. */
  schemaKeywords: readonly string[];
  /** Fields of the request or of its messages that it refused. */
  leftOut: readonly string[];
}

export type MaxTokensField = "max_completion_tokens" | "max_tokens";

export const NO_QUIRKS: Quirks = {
  tools: true,
  systemRole: true,
  images: true,
  streamUsage: true,
  maxTokensField: "max_completion_tokens",
  thinking: "tags",
  noContent: "null",
  answersResults: false,
  objectArguments: false,
  nineCharIds: false,
  reasoningField: false,
  tellsUnknownCalls: false,
  schemaKeywords: [],
  leftOut: [],
};

/** What is known of each model of a provider. */
export interface KnownQuirks {
  of(model: string): Quirks;
  note(model: string, quirks: Quirks): void;
}

/** More names than any channel uses: a name comes from a channel's settings, not from callers. */
const MAX_MODELS = 1_000;

export function createKnownQuirks(said: Partial<Quirks>): KnownQuirks {
  const beforehand: Quirks = { ...NO_QUIRKS, ...said };
  const learned = new Map<string, Quirks>();
  return {
    of: (model) => learned.get(model) ?? beforehand,
    note(model, quirks) {
      if (learned.size >= MAX_MODELS) learned.clear();
      learned.set(model, quirks);
    },
  };
}
