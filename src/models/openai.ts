import type { Model, ModelRequest, ModelTurn, Wrote } from "../model.ts";
import { openFastFetch, PushedResponse } from "./fast-fetch.ts";
import { faultOf } from "./faults.ts";
import { readTurn } from "./read-turn.ts";
import { requestBody } from "./request-body.ts";
import { withRetries } from "./retry.ts";
import { SteadyClient } from "./steady-client.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";
/** The package wants a key, also for a server that wants none. */
const NO_KEY = "none";
/** Longest delay a timer can take: the fetch watches for silence, not the package. */
const NEVER_MS = 2_147_483_647;

export interface ModelOptions {
  apiKey: string | null;
  /** null: OpenAI's own. */
  baseUrl: string | null;
  /** Longest time between any two bytes, and before the first (MODEL_TIMEOUT_SECONDS). */
  silenceMs: number;
  kind?: Model["kind"];
}

/** The model contract kept by any server that speaks OpenAI's chat completions. */
export function openModel({ apiKey, baseUrl, silenceMs, kind = "openai" }: ModelOptions): Model {
  const http = openFastFetch(silenceMs);
  // What the package would otherwise take from the environment is named: config.ts alone reads that.
  const client = new SteadyClient(http, {
    apiKey: apiKey ?? NO_KEY,
    baseURL: baseUrl ?? OPENAI_BASE_URL,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: NEVER_MS,
  });

  async function attempt(request: ModelRequest, wrote: Wrote, signal: AbortSignal): Promise<ModelTurn> {
    try {
      const response = await client.chat.completions
        .create(requestBody(request), {
          signal,
          ...(request.traceparent === null ? {} : { headers: { traceparent: request.traceparent } }),
        })
        .asResponse();
      if (!(response instanceof PushedResponse))
        throw new TypeError("Cannot read the answer: not of our fetch");
      return await readTurn(response, wrote);
    } catch (error) {
      // The reason it was stopped for, whatever the package made of it.
      signal.throwIfAborted();
      throw faultOf(error);
    }
  }

  let isClosed = false;

  return {
    kind,
    async stream(request, wrote, signal) {
      signal.throwIfAborted();
      const turn = await withRetries({
        attempt: () => attempt(request, wrote, signal),
        mayRetry: () => !isClosed,
        signal,
      });
      signal.throwIfAborted();
      return turn;
    },
    async close() {
      isClosed = true;
      await http.close();
    },
  };
}
