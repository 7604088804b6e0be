import type { Model, ModelRequest, ModelTurn, Wrote } from "../model.ts";
import { modelFaultOf } from "./faults.ts";
import { OneEndpointClient } from "./one-endpoint-client.ts";
import { openPushFetch } from "./push-fetch.ts";
import type { PushFetch } from "./push-fetch.ts";
import { PushedResponse } from "./pushed-response.ts";
import { readTurn } from "./read-turn.ts";
import { requestBody } from "./request-body.ts";
import { realPause, withRetries } from "./retry.ts";
import type { Pause } from "./retry.ts";

const OPENAI_BASE_URL = "https://api.openai.com/v1";
/** The package wants a key, also for a server that wants none. */
const NO_KEY = "none";
/** The longest delay of a timer: the fetch watches for silence, not the package. */
const NEVER_MS = 2_147_483_647;

export interface OpenAiOptions {
  apiKey: string | null;
  /** null: OpenAI's own. */
  baseUrl: string | null;
  /** Longest time between any two bytes, and before the first (MODEL_TIMEOUT_SECONDS). */
  silenceMs: number;
  /** Between two tries. Tests let no time pass. */
  pause?: Pause;
  kind?: Model["kind"];
}

/** Any server that speaks OpenAI's chat completions. */
export function openOpenAi(options: OpenAiOptions): Model {
  const { apiKey, baseUrl, silenceMs, pause = realPause, kind = "openai" } = options;
  const http = openPushFetch(silenceMs);
  const client = clientOver(http, { apiKey, baseUrl });
  let isClosed = false;

  return {
    kind,
    async stream(request, wrote, signal) {
      signal.throwIfAborted();
      const turn = await withRetries({
        attempt: () => streamOnce(client, { request, wrote, signal }),
        mayRetry: () => !isClosed,
        pause,
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

function clientOver(
  http: PushFetch,
  { apiKey, baseUrl }: Pick<OpenAiOptions, "apiKey" | "baseUrl">,
): OneEndpointClient {
  // Names all that the package would otherwise take from the environment: config.ts alone reads that.
  return new OneEndpointClient(http, {
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
}

async function streamOnce(
  client: OneEndpointClient,
  { request, wrote, signal }: { request: ModelRequest; wrote: Wrote; signal: AbortSignal },
): Promise<ModelTurn> {
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
    throw modelFaultOf(error);
  }
}
