import { APIError } from "openai";
import type { Model, ModelRequest, ModelTurn, Wrote } from "../model.ts";
import { modelFaultOf } from "./faults.ts";
import { learn } from "./learn.ts";
import { errorBody, OneEndpointClient } from "./one-endpoint-client.ts";
import { openPushFetch } from "./push-fetch.ts";
import type { PushFetch } from "./push-fetch.ts";
import { PushedResponse } from "./pushed-response.ts";
import { createKnownQuirks } from "./quirks.ts";
import type { KnownQuirks, Quirks } from "./quirks.ts";
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
  /** null: OpenAI's own. With a query, as Azure's have, it stays on every request. */
  baseUrl: string | null;
  /** Longest time between any two bytes, and before the first (MODEL_TIMEOUT_SECONDS). */
  silenceMs: number;
  /** Between two tries. Tests let no time pass. */
  pause?: Pause;
  kind?: Model["kind"];
  /** What it is called in names of models and in the history. */
  name?: string;
  headers?: Record<string, string>;
  /** Further fields of each request. */
  body?: Record<string, unknown>;
  /** What is known beforehand that it does not take. */
  quirks?: Partial<Quirks>;
}

interface Provider {
  name: string;
  client: OneEndpointClient;
  body: Record<string, unknown>;
  quirks: KnownQuirks;
}

interface Asked {
  request: ModelRequest;
  wrote: Wrote;
  signal: AbortSignal;
}

/** Any server that speaks OpenAI's chat completions. */
export function openOpenAi(options: OpenAiOptions): Model {
  const { silenceMs, pause = realPause, kind = "openai", name = kind, body = {}, quirks = {} } = options;
  const http = openPushFetch(silenceMs);
  const provider = { name, client: clientOver(http, options), body, quirks: createKnownQuirks(quirks) };
  let isClosed = false;

  return {
    kind,
    async stream(request, wrote, signal) {
      signal.throwIfAborted();
      const turn = await withRetries({
        attempt: () => streamLearning(provider, { request, wrote, signal }),
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
  { apiKey, baseUrl, headers = {} }: Pick<OpenAiOptions, "apiKey" | "baseUrl" | "headers">,
): OneEndpointClient {
  const { address, query } = withoutQuery(baseUrl ?? OPENAI_BASE_URL);
  // Names all that the package would otherwise take from the environment: config.ts alone reads that.
  return new OneEndpointClient(http, {
    apiKey: apiKey ?? NO_KEY,
    baseURL: address,
    defaultQuery: query,
    defaultHeaders: { ...keyHeaders({ apiKey, baseUrl, headers }), ...headers },
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
    maxRetries: 0,
    timeout: NEVER_MS,
  });
}

function withoutQuery(baseUrl: string): { address: string; query: Record<string, string> } {
  const url = new URL(baseUrl);
  const query = Object.fromEntries(url.searchParams);
  url.search = "";
  return { address: url.href.replace(/\/$/, ""), query };
}

/** Azure takes its keys in a header of its own, and so does whoever sets one; both at once can be refused. */
function keyHeaders({
  apiKey,
  baseUrl,
  headers,
}: {
  apiKey: string | null;
  baseUrl: string | null;
  headers: Record<string, string>;
}): Record<string, string | null> {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  if (names.includes("authorization") || names.includes("api-key")) return { authorization: null };
  if (apiKey !== null && baseUrl !== null && isAzure(new URL(baseUrl))) {
    return { authorization: null, "api-key": apiKey };
  }
  return {};
}

function isAzure({ hostname, searchParams }: URL): boolean {
  return (
    /\.(openai|cognitiveservices|services\.ai)\.azure\.com$/.test(hostname) || searchParams.has("api-version")
  );
}

/** Asks, and asks again without what the server says that it does not take: each time with one quirk more. */
async function streamLearning(provider: Provider, asked: Asked): Promise<ModelTurn> {
  const { quirks } = provider;
  const { model } = asked.request;
  for (;;) {
    const sent = quirks.of(model);
    const by = `${provider.name}/${model}`;
    const body = requestBody(asked.request, { by, model, quirks: sent, body: provider.body });
    try {
      return { ...(await streamOnce(provider.client, body, asked)), by };
    } catch (error) {
      // The reason it was stopped for, whatever the package made of it.
      asked.signal.throwIfAborted();
      const learned =
        error instanceof APIError && error.status !== undefined
          ? learn({ status: error.status, text: errorBody(error), body }, sent)
          : null;
      if (learned === null) throw modelFaultOf(error);
      quirks.note(model, learned);
    }
  }
}

async function streamOnce(
  client: OneEndpointClient,
  body: ReturnType<typeof requestBody>,
  { request, wrote, signal }: Asked,
) {
  const response = await client.chat.completions
    .create(body, {
      signal,
      ...(request.traceparent === null ? {} : { headers: { traceparent: request.traceparent } }),
    })
    .asResponse();
  if (!(response instanceof PushedResponse)) throw new TypeError("Cannot read the answer: not of our fetch");
  return readTurn(response, wrote);
}
