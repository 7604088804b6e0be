/**
 * A language model as providers of the AI SDK have it (`@ai-sdk/provider`), as far as it is used here. The versions of
 * its interface differ in little, and each part is read without trusting its type.
 * https://github.com/vercel/ai/tree/main/packages/provider/src/language-model
 */
export interface LanguageModel {
  readonly specificationVersion: Version;
  /** Such as `anthropic.messages`: what stands before the dot names its options. */
  readonly provider: string;
  readonly modelId: string;
  /** Addresses that it fetches itself, by media type. */
  readonly supportedUrls?: unknown;
  doStream(options: CallOptions): PromiseLike<{ stream: ReadableStream<unknown> }>;
}

/** Of `@ai-sdk/provider` 2, 3 and 4. */
export const VERSIONS = ["v2", "v3", "v4"] as const;
export type Version = (typeof VERSIONS)[number];

export type Fields = Record<string, unknown>;
/** Options of a part, a message or a call, by the name of their provider. */
export type ProviderOptions = Record<string, Fields>;

export interface Part {
  type: string;
  providerOptions?: ProviderOptions;
  [field: string]: unknown;
}

export type PromptMessage =
  | { role: "system"; content: string }
  | { role: "user" | "assistant" | "tool"; content: Part[] };

export interface CallOptions extends Fields {
  prompt: PromptMessage[];
  tools?: { type: "function"; name: string; description?: string; inputSchema: unknown }[];
  maxOutputTokens?: number;
  abortSignal: AbortSignal;
  headers?: Record<string, string>;
  providerOptions?: ProviderOptions;
}
