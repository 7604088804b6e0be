import { APIError } from "openai";
import type { PlainLog } from "../log.ts";
import type { Model, ModelRequest, ModelTurn, Wrote } from "../model.ts";
import { modelFaultOf, TooLong } from "./faults.ts";
import { fitInput } from "./input-fit.ts";
import { learn, refusesAnImage } from "./learn.ts";
import type { Refused } from "./learn.ts";
import { errorBody, OneEndpointClient } from "./one-endpoint-client.ts";
import { openPushFetch } from "./push-fetch.ts";
import type { PushFetch } from "./push-fetch.ts";
import { PushedResponse } from "./pushed-response.ts";
import { createKnownQuirks } from "./quirks.ts";
import type { KnownQuirks, Quirks } from "./quirks.ts";
import { readTurn } from "./read-turn.ts";
import { isRefused, toolName, withRefused } from "./refused-tools.ts";
import { requestBody } from "./request-body.ts";
import { realPause, withRetries } from "./with-retries.ts";
import type { Pause } from "./with-retries.ts";
import { tooLong } from "./too-long.ts";

/** One server and its models. */
export interface Provider {
  readonly name: string;
  /** One turn of one of its models; see model.ts. `tries`: how many requests in total, if the faults may pass. */
  stream(model: string, asked: Asked & { tries?: number }): Promise<ModelTurn>;
  close(): Promise<void>;
}

export interface Asked {
  request: ModelRequest;
  wrote: Wrote;
  signal: AbortSignal;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";
/** The package requires a key, even for a server that needs none. */
const NO_KEY = "none";
/** The longest delay of a timer: the fetch detects silence, not the package. */
const NEVER_MS = 2_147_483_647;

export interface OpenAiOptions {
  apiKey: string | null;
  /** null: OpenAI's own. A query, as in Azure's URLs, is sent with every request. */
  baseUrl: string | null;
  /** Longest time between any two bytes, and before the first (MODEL_TIMEOUT_SECONDS). */
  silenceMs: number;
  /** Waits between two tries. Tests return at once. */
  pause?: Pause;
  kind?: Model["kind"];
  /** Its name in model names and in the history. */
  name?: string;
  headers?: Record<string, string>;
  /** Further fields of each request. */
  body?: Record<string, unknown>;
  /** What the settings say that it does not take. */
  quirks?: Partial<Quirks>;
  log?: Pick<PlainLog, "warn">;
}

interface Connection {
  name: string;
  client: OneEndpointClient;
  body: Record<string, unknown>;
  quirks: KnownQuirks;
  log: Pick<PlainLog, "warn">;
}

/** Any server of OpenAI's chat completions as the only provider: any name is one of its models. */
export function openOpenAi(options: OpenAiOptions): Model {
  const provider = openProvider(options);
  return {
    kind: options.kind ?? "openai",
    stream: (request, wrote, signal) => provider.stream(request.model, { request, wrote, signal }),
    close: () => provider.close(),
  };
}

export function openProvider(options: OpenAiOptions): Provider {
  const { silenceMs, pause = realPause, kind = "openai", name = kind, body = {}, quirks = {} } = options;
  const http = openPushFetch(silenceMs);
  const { log = { warn() {} } } = options;
  const connection = {
    name,
    client: clientOver(http, options),
    body,
    quirks: createKnownQuirks(quirks),
    log,
  };
  let isClosed = false;

  return {
    name,
    async stream(model, { tries, ...asked }) {
      const { signal } = asked;
      signal.throwIfAborted();
      const turn = await withRetries({
        attempt: () => streamLearning(connection, model, asked),
        mayRetry: () => !isClosed,
        pause,
        signal,
        ...(tries === undefined ? {} : { tries }),
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
  // Sets everything that the package would otherwise read from the environment: only config.ts reads that.
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

/**
 * Azure expects its key in the `api-key` header; a key in `headers` replaces `apiKey`. Two keys at once may be refused.
 */
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

/** Tools are refused one by one. A turn with more of them fails; the next turn goes on from there. */
const MOST_TOOL_REFUSALS = 32;

/**
 * Sends the request, and repeats it without what the server says that it does not take: one more quirk each time. An
 * image that the server refuses is left out of this request only; otherwise its thread would never get a reply again. An
 * input that is too long is shortened; later turns begin with the length that was answered.
 */
async function streamLearning(connection: Connection, model: string, asked: Asked): Promise<ModelTurn> {
  const { quirks } = connection;
  const input = fitInput(asked.request, quirks.of(model).maxInputTokens);
  let leavesImagesOut = false;
  let toolRefusals = 0;
  for (;;) {
    const known = quirks.of(model);
    const sent = leavesImagesOut ? { ...known, images: false } : known;
    const by = `${connection.name}/${model}`;
    const body = requestBody(input.request(), { by, model, quirks: sent, body: connection.body });
    try {
      const turn = await streamOnce(connection.client, { body, quirks: sent }, asked);
      const maxInputTokens = input.found();
      if (maxInputTokens !== null) quirks.note(model, { ...quirks.of(model), maxInputTokens });
      const given = input.shortened();
      return { ...turn, by, ...(given === null ? {} : { given }) };
    } catch (error) {
      // Throws the reason of the abort, whatever error the package made of it.
      asked.signal.throwIfAborted();
      const refused = refusedBy(error, body);
      // Some servers begin with 200, and refuse in the stream.
      const said = refused ? tooLong(refused) : error instanceof TooLong ? error.said : null;
      if (said !== null) {
        if (input.shorten(said)) continue;
        throw refused ? new TooLong(said, error) : error;
      }
      const learned = refused && learn(refused, sent);
      if (learned !== null) {
        const refusedTools = noteTools(connection, model, { body, learned, error });
        quirks.note(model, { ...learned, refusedTools, ...(leavesImagesOut && { images: known.images }) });
        if (learned.refusedTools !== sent.refusedTools) toolRefusals += 1;
        if (toolRefusals > MOST_TOOL_REFUSALS) throw modelFaultOf(error, refused?.text ?? null);
      } else if (refused !== null && refusesAnImage(refused)) leavesImagesOut = true;
      else throw modelFaultOf(error, refused?.text ?? null);
    }
  }
}

/** Warns of the tools that are left out from now on; with those that other turns have learned meanwhile. */
function noteTools(
  { name, quirks, log }: Connection,
  model: string,
  { body, learned, error }: { body: Refused["body"]; learned: Quirks; error: unknown },
): Quirks["refusedTools"] {
  const before = quirks.of(model);
  const tools = (body.tools ?? []).filter((tool) => isRefused(tool, learned) && !isRefused(tool, before));
  if (tools.length === 0) return before.refusedTools;
  log.warn(
    { model: `${name}/${model}`, tools: tools.map(toolName), err: modelFaultOf(error, null) },
    "a model refuses a tool: it is left out",
  );
  return withRefused(before.refusedTools, tools);
}

function refusedBy(error: unknown, body: Refused["body"]): Refused | null {
  if (!(error instanceof APIError) || error.status === undefined) return null;
  return { status: error.status, text: errorBody(error), body };
}

async function streamOnce(
  client: OneEndpointClient,
  { body, quirks }: { body: ReturnType<typeof requestBody>; quirks: Quirks },
  { request, wrote, signal }: Asked,
) {
  const response = await client.chat.completions
    .create(body, {
      signal,
      ...(request.traceparent === null ? {} : { headers: { traceparent: request.traceparent } }),
    })
    .asResponse();
  if (!(response instanceof PushedResponse)) throw new TypeError("Cannot read the answer: not of our fetch");
  return readTurn(response, wrote, quirks);
}
