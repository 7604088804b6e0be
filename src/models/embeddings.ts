import OpenAI from "openai";
import type { ClientOptions } from "openai";
import { boundedBody } from "../bounded-body.ts";
import { ModelFault } from "../model.ts";

/** What texts mean, as numbers, in their order; all lists are of one length. Rejects with ModelFault. */
export type Embed = (model: string, texts: readonly string[], signal: AbortSignal) => Promise<number[][]>;

const TIMEOUT_MS = 30_000;
const RETRIES = 2;

/** By OpenAI's embeddings API, which every compatible server has if it has any. */
export function createEmbed(options: ClientOptions): Embed {
  let client: OpenAI | null = null;
  return async (model, texts, signal) => {
    client ??= new OpenAI({ ...options, fetch: boundedFetch });
    const asked = { model, input: [...texts], encoding_format: "float" as const };
    const { data } = await client.embeddings
      .create(asked, { signal, timeout: TIMEOUT_MS, maxRetries: RETRIES })
      .catch((cause: unknown) => {
        signal.throwIfAborted();
        throw new ModelFault("The embeddings model does not answer", { cause });
      });
    return mustFit(
      data.toSorted((one, other) => one.index - other.index).map(({ embedding }) => embedding),
      texts,
    );
  };
}

/** Of 64 texts the longest answer of a known model has some 4 MB. */
const MOST_ANSWER_BYTES = 16_777_216;

const boundedFetch: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const body = answer.body && boundedBody(answer.body, { mostBytes: MOST_ANSWER_BYTES });
  const { status, statusText, headers } = answer;
  return new Response(body, { status, statusText, headers });
};

/** A server that answers fewer would give passages the meaning of others. */
export function mustFit(embeddings: number[][], texts: readonly string[]): number[][] {
  const [first] = embeddings;
  const fit = embeddings.every((one) => Array.isArray(one) && one.length > 0 && one.length === first?.length);
  if (embeddings.length !== texts.length || !fit)
    throw new ModelFault("The embeddings model answers something else");
  return embeddings;
}
