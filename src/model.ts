import type { Usage } from "../machines/run.ts";

/**
 * The model contract: one turn of a chat model, streamed.
 * Implementation: models/openai.ts, for any OpenAI-compatible server. demo/model/ is such a server, in this process, for a
 * start without a key.
 */
export type ModelMessage =
  | { role: "system"; content: string }
  | UserMessage
  | SpokenMessage
  | { role: "tool"; callId: string; content: string };

export interface UserMessage {
  role: "user";
  content: string;
  /** Images that came with it; absent: none. */
  images?: AttachedImage[];
}

export interface AttachedImage {
  /** The text that stands for it if it is not shown; one line. */
  label: string;
  /** data: or https: address; null: only the label is sent. */
  url: string | null;
}

export interface SpokenMessage {
  role: "assistant";
  content: string;
  calls: ModelCall[];
  /**
   * The model that made the calls: a ModelTurn's `by`. Another model gets them as text. Absent: unknown, because an earlier
   * version began the run; any model then gets them unchanged.
   */
  by?: string;
  extra?: Extra;
}

/**
 * Fields of an answer that the API does not define (a signature, the reasoning behind a call). Some servers refuse the next
 * request without them, others refuse a request with them: so they go back unchanged to the model that sent them, and to
 * no other.
 */
export type Extra = Record<string, unknown>;

export interface ModelCall {
  /** The model's own id; some servers use the same ids again in each turn. */
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
  /** Additional fields of the request body. */
  body?: Record<string, unknown>;
  /** The model that answered the run so far (a ModelTurn's `by`): tried first, if it is one of the chain. */
  keep?: string;
  /**
   * The messages for a model that takes at most so many tokens, the tools included: with less history, and never without the
   * present question. Absent: they cannot be made shorter.
   */
  fit?(maxTokens: number): FittedInput;
  /** Called as each request to a server is sent: a turn takes several where one was refused, broke off or is asked of a chain. */
  sent?(request: SentRequest): void;
}

/** One request of a turn. The model changes it while the turn goes on. */
export interface SentRequest {
  readonly messages: readonly ModelMessage[];
  /** Who was asked, PROVIDER/MODEL; absent: the demo's model. */
  by?: string;
  /** The server refused it or could not be reached: it costs nothing. */
  isRefused: boolean;
  /** Null: the answer has not begun. */
  arrived: (() => ArrivedAnswer) | null;
}

/** How much of an answer has arrived. */
export interface ArrivedAnswer {
  /** As the server told it; null: not yet, or not at all. */
  usage: Usage | null;
  /** UTF-8 bytes of its text, thoughts and calls. */
  bytes: number;
  /** The model has finished; `usage` may still come. */
  isFinished: boolean;
  /** When its first text was passed on (`performance.now()`); null: none was. */
  firstTextAtMs: number | null;
}

export interface FittedInput {
  messages: ModelMessage[];
  /** Estimated, the tools included; more than asked for if the question alone is longer. */
  tokens: number;
}

/** How much text of a turn is kept for later turns, in UTF-16 units: more than fits into a model's input. */
export const TURN_TEXT_CHARS = 131_072;

export interface ModelTurn {
  /** All text that was passed to `wrote`, joined, and cut at TURN_TEXT_CHARS. */
  text: string;
  calls: ModelCall[];
  /** null if the server reported none. */
  usage: Usage | null;
  /** The model that answered: PROVIDER/MODEL. */
  by: string;
  /** The model is a chain, so another member might have answered. */
  isOfChain?: true;
  /** As the server reported it (`stop`, `length`, `content_filter`, …); null if it reported none. */
  finishReason: string | null;
  extra?: Extra;
  /** The server sent it whole, although a stream was requested. */
  isWhole?: true;
  /** Names of the request's tools that the model was not offered; absent: it was offered all. */
  leftOutTools?: readonly string[];
}

/** Something about one model that the settings do not say, and for how long it holds. */
export interface ModelNote {
  provider: string;
  model: string;
  /** A name of a closed set: what is sent otherwise (models/refusals/quirks.ts), or `gone`. */
  quirk: string;
  /** What the service does about it. */
  says: string;
  /** What an operator can do. */
  remedy: string;
  /** False: a turn that meets it is helped, and the next one meets it again. */
  lasts: boolean;
  /** It is asked again after this time. */
  forSeconds: number;
}

/** The model could not be reached, answered with an error, or fell silent. The message is fit for clients: no key, no address. */
export class ModelFault extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "ModelFault";
  }
}

/**
 * Told for a turn without text because of a content filter, and for a prompt that a filter refused. The messages of a run that
 * ended so are left out of later prompts: many filters check the whole prompt, and would refuse every later turn of the thread.
 */
export const WITHHELD = "The answer was withheld by the model's content filter";

/**
 * Takes the text of a reply as it comes. If it returns a promise, the model's stream is not read before that resolves; text
 * that had already arrived may still be passed on.
 */
export type Wrote = (text: string) => void | Promise<unknown>;

/** What a million tokens cost, in units of a currency. */
export interface Price {
  input: number;
  output: number;
}

export interface Prices {
  /** ISO 4217: `USD`. */
  currency: string;
  /** By PROVIDER/MODEL. */
  perMillionTokens: Readonly<Record<string, Price>>;
}

export interface Model {
  readonly kind: "openai" | "demo";
  /** For channels that name no model; absent: OPENAI_MODEL. */
  readonly defaultModel?: string;
  /** Is there a model of this name? Absent: there is one provider, and any name may be one of its models. */
  knows?(name: string): boolean;
  /** The models of the default chain, PROVIDER/MODEL, in the order in which they are tried. */
  readonly answers?: readonly string[];
  /** How its models are asked, by PROVIDER/MODEL: those that have a name in the settings. */
  readonly ways?: Readonly<Record<string, string>>;
  /** The same of one name; null: there is no such model, or it is a chain. */
  wayOf?(name: string): string | null;
  /** What they cost; absent: nobody has said. */
  readonly prices?: Prices;
  /** What is known of its models at present beside the settings. Absent: nothing ever is. */
  notes?(): readonly ModelNote[];
  /**
   * One turn. `wrote` is called once per network read that brought text, with all of that read's text: never with an
   * empty string, never with half of a surrogate pair. A fault before the first text is retried with backoff; after it
   * the turn rejects with ModelFault. Rejects with the signal's reason when it is aborted; the request then ends at once.
   */
  stream(request: ModelRequest, wrote: Wrote, signal: AbortSignal): Promise<ModelTurn>;
  /**
   * What texts mean, as lists of numbers in their order, by the embeddings model of this name. Rejects with ModelFault, or with the
   * signal's reason. Absent: there are no embeddings models.
   */
  embed?(name: string, texts: readonly string[], signal: AbortSignal): Promise<number[][]>;
  close(): Promise<void>;
}
