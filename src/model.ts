import type { Usage } from "../machines/run.ts";

/**
 * The model contract: one turn of a chat model, streamed.
 * Implementations: models/openai.ts, which speaks to any OpenAI-compatible server; demo/model/ is such a server, in this
 * process, for a start without a key.
 */
export type ModelMessage =
  | { role: "system"; content: string }
  | UserMessage
  | SpokenMessage
  | { role: "tool"; callId: string; content: string };

export interface UserMessage {
  role: "user";
  content: string;
  /** What came with it; absent: nothing. */
  images?: AttachedImage[];
}

export interface AttachedImage {
  /** What it is called where it is not shown, as one line. */
  label: string;
  /** data: or https: address; null: it is not to be shown any more. */
  url: string | null;
}

export interface SpokenMessage {
  role: "assistant";
  content: string;
  calls: ModelCall[];
  /**
   * Who made the calls: a ModelTurn's `by`. Any other model is told of them in words. Absent: unknown, of a run that an
   * earlier version began; whoever takes them gets them as they are.
   */
  by?: string;
  extra?: Extra;
}

/**
 * Fields of an answer that the API does not name (a signature, the thoughts behind a call). Some servers refuse the next
 * request without them, others refuse them: they go back to the model that sent them, as they came, and to no other.
 */
export type Extra = Record<string, unknown>;

export interface ModelCall {
  /** As the model numbered it; some servers number each turn's calls anew. */
  callId: string;
  /** The name under which the tool was offered. */
  name: string;
  /** JSON text, as the model wrote it: it may not parse. */
  arguments: string;
  extra?: Extra;
}

export interface OfferedTool {
  /** 1 to 64 of `a-z A-Z 0-9 _ -` */
  name: string;
  description: string;
  /** A JSON schema of type object. */
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** As a channel names it. */
  model: string;
  messages: ModelMessage[];
  tools: OfferedTool[];
  maxOutputTokens: number | null;
  /** W3C trace context of the caller's request, passed on as a header; null where there was none. */
  traceparent: string | null;
  /** Further fields of the request, as the API names them. */
  body?: Record<string, unknown>;
  /** Who answered the run so far (a ModelTurn's `by`): asked first, if it is one of the model's. */
  keep?: string;
}

/** What is kept of a turn for the turns after it, in UTF-16 units: more than a model can be given back. */
export const TURN_TEXT_CHARS = 131_072;

export interface ModelTurn {
  /** The text of the turn: all that was passed to `wrote`, joined; of more than TURN_TEXT_CHARS the beginning. */
  text: string;
  calls: ModelCall[];
  /** null if the server reported none. */
  usage: Usage | null;
  /** Who answered: PROVIDER/MODEL. */
  by: string;
  /** It could have been another one: the model is a chain. */
  isOfChain?: true;
  /** As the server told it (`stop`, `length`, `content_filter`, …); null if it told none. */
  finishReason: string | null;
  extra?: Extra;
  /** It came whole, though a stream was asked for. */
  isWhole?: true;
}

/** The model could not be reached, answered with an error, or fell silent. The message is fit for clients: no key, no address. */
export class ModelFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ModelFault";
  }
}

/**
 * The words for a turn without a text that a content filter kept back, or for a prompt that one refused. What they are said
 * of is not given to a model again: many filters look at all that is sent, and would refuse the thread for good.
 */
export const WITHHELD = "The answer was withheld by the model's content filter";

/**
 * Takes text of a reply as it comes. If it returns a promise, the model is not read on before that resolves; what has
 * arrived by then may still be told.
 */
export type Wrote = (text: string) => void | Promise<unknown>;

export interface Model {
  readonly kind: "openai" | "demo";
  /** For channels that name no model; absent: OPENAI_MODEL. */
  readonly defaultModel?: string;
  /** Does somebody answer to this name? Absent: any name may be one of the only provider's models. */
  knows?(name: string): boolean;
  /** Who answers such channels, PROVIDER/MODEL, the first first. */
  readonly answers?: readonly string[];
  /**
   * One turn. `wrote` is called once per network read that brought text, with all of that read's text: never with an
   * empty string, never with half of a surrogate pair. A fault before the first text is retried with backoff; after it
   * the turn rejects with ModelFault. Rejects with the signal's reason when it is aborted; the request then ends at once.
   */
  stream(request: ModelRequest, wrote: Wrote, signal: AbortSignal): Promise<ModelTurn>;
  close(): Promise<void>;
}
