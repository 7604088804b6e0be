import type { ChatCompletionCreateParamsStreaming } from "openai/resources/chat/completions";
import { readChunk } from "./reply/completion-chunk.ts";
import type { CompletionChunk } from "./reply/completion-chunk.ts";

/**
 * How a server is asked. Everything else here knows one form, that of a chat completion: requests are built in it, and
 * answers are read as its chunks. A way translates both.
 */
export interface Way {
  readonly name: WayName;
  /** Behind the base URL. */
  readonly path: string;
  /** Fields of each request that the settings do not write; a server that refuses one gets it no more (learn.ts). */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The request as the server takes it. */
  wire(body: ChatCompletionCreateParamsStreaming): unknown;
  /** Reads one answer: each event, or all of it at once, as a chunk. */
  reader(): (json: unknown) => CompletionChunk;
  /** Where a place that the server names is in the form that is known here. */
  place(path: readonly (string | number)[]): readonly (string | number)[];
}

export const WAYS = ["chat", "responses"] as const;
export type WayName = (typeof WAYS)[number];

/** The field of a turn's extra that has the items of a response, in their order. */
export const RESPONSE_ITEMS = "response_items";
/** The field of a turn's extra that has what the parts of a package's answer brought, in their order. */
export const PACKAGE_PARTS = "package_parts";

/** Chat completions: what the openai package calls so, and every compatible server. */
export const chatWay: Way = {
  name: "chat",
  path: "/chat/completions",
  fields: {},
  wire: withoutItems,
  reader: () => readChunk,
  place: (path) => path,
};

/** A model that was asked in another way before may have turns with what that kept: no fields of a chat completion. */
function withoutItems(body: ChatCompletionCreateParamsStreaming): ChatCompletionCreateParamsStreaming {
  if (!body.messages.some((message) => RESPONSE_ITEMS in message || PACKAGE_PARTS in message)) return body;
  const none = { [RESPONSE_ITEMS]: undefined, [PACKAGE_PARTS]: undefined };
  const messages = body.messages.map((message) => ({ ...message, ...none }));
  return { ...body, messages };
}
