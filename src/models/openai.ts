import type { ClientOptions } from "openai";
import { systemClock } from "../clock.ts";
import type { Clock } from "../clock.ts";
import type { PlainLog } from "../log.ts";
import type { Model, ModelNote, ModelTurn } from "../model.ts";
import { createKnownQuirks } from "./refusals/known-quirks.ts";
import { openOddAnswers } from "./refusals/odd-answers.ts";
import type { OddAnswer } from "./refusals/odd-answers.ts";
import { createEmbed } from "./embeddings.ts";
import type { Embed } from "./embeddings.ts";
import { createPostChat } from "./exchange/post-chat.ts";
import type { PostChat } from "./exchange/post-chat.ts";
import { openPushFetch } from "./exchange/push-fetch.ts";
import type { PushFetch } from "./exchange/push-fetch.ts";
import { PROFILES, profileOf } from "./refusals/profiles.ts";
import type { ProfileName } from "./refusals/profiles.ts";
import type { Quirks } from "./refusals/quirks.ts";
import { chatWay } from "./way.ts";
import type { Way, WayName } from "./way.ts";
import { responsesWay } from "./responses/responses-way.ts";
import { streamLearning } from "./refusals/stream-learning.ts";
import type { Asked, Connection, Exchange } from "./refusals/stream-learning.ts";
import { isSilence } from "./faults.ts";
import { readTurn } from "./reply/read-turn.ts";
import { realPause, withRetries } from "./with-retries.ts";
import type { Pause } from "./with-retries.ts";

/** One server and its models. */
export interface Provider {
  readonly name: string;
  /** How its models are asked. */
  readonly way: string;
  /** One turn of one of its models; see model.ts. `tries`: how many requests in total, if the faults may pass. */
  stream(model: string, asked: Asked & { tries?: number }): Promise<ModelTurn>;
  /** What texts mean, by one of its embeddings models; absent: it has none. */
  embed?: Embed;
  /** What was learned of its models. */
  notes(): ModelNote[];
  close(): Promise<void>;
}

const OPENAI_HOST = "api.openai.com";
const OPENAI_BASE_URL = `https://${OPENAI_HOST}/v1`;
/** The package requires a key, even for a server that needs none. */
const NO_KEY = "none";
/** The longest delay of a timer, which the package tells the server: only silence ends a request. */
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
  /** How its server is asked; absent: by its address. */
  api?: WayName;
  /** Its server's row in profiles.ts; absent: by its address, if it is known. */
  profile?: ProfileName;
  /** What the settings say that it does not take. */
  quirks?: Partial<Quirks>;
  /** Measures how long something that was learned holds. */
  clock?: Pick<Clock, "elapsed">;
  log?: Pick<PlainLog, "warn">;
  /** An answer was odd, and was read as far as it could be. */
  onOdd?: (odd: OddAnswer) => void;
}

/** Any server of OpenAI's chat completions as the only provider: any name is one of its models. */
export function openOpenAi(options: OpenAiOptions): Model {
  const provider = openProvider(options);
  return {
    kind: options.kind ?? "openai",
    stream: (request, wrote, signal) => provider.stream(request.model, { request, wrote, signal }),
    ...(provider.embed ? { embed: provider.embed } : {}),
    notes: () => provider.notes(),
    close: () => provider.close(),
  };
}

export function openProvider(options: OpenAiOptions): Provider {
  const { silenceMs, kind = "openai", name = kind, body = {}, quirks = {} } = options;
  const http = openPushFetch(silenceMs);
  const { log = { warn() {} }, clock = systemClock } = options;
  const way = wayOf(options);
  const profileName = profileOf(options.baseUrl ?? OPENAI_BASE_URL, options.profile);
  const profile = profileName && PROFILES[profileName];
  const connection = {
    name,
    way,
    exchange: exchangeOver(postOver(http, way, options), way),
    body,
    quirks: createKnownQuirks({ ...profile?.takes, ...quirks }, { provider: name, clock }),
    profile,
    log,
    odd: openOddAnswers({ log, onOdd: options.onOdd }),
  };
  const embed = createEmbed(clientOptions(options));
  return providerOver(connection, { way: way.name, pause: options.pause, close: () => http.close(), embed });
}

/** A connection as a provider: a turn is tried again where its fault may pass, and none begins once it is closed. */
export function providerOver(
  connection: Connection,
  {
    way,
    pause = realPause,
    close,
    embed,
  }: { way: string; pause?: Pause | undefined; close: () => Promise<unknown>; embed?: Embed | undefined },
): Provider {
  let isClosed = false;
  return {
    name: connection.name,
    way,
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
    ...(embed ? { embed } : {}),
    notes: () => connection.quirks.notes(),
    async close() {
      isClosed = true;
      await close();
    },
  };
}

function exchangeOver(post: PostChat, way: Way): Exchange {
  return async (body, { signal, traceparent }, reading) => {
    const { sent } = reading;
    const response = await post(body, { signal, traceparent }).catch((error: unknown) => {
      // Whoever hangs up, or waits in vain, does not know what the server did meanwhile.
      sent.isRefused = !signal.aborted && !isSilence(error);
      throw error;
    });
    return readTurn(response, { ...reading, readChunk: way.reader() });
  };
}

/** OpenAI's own servers are asked by responses, all others by chat completions, unless the settings say otherwise. */
function wayOf({ api, baseUrl }: Pick<OpenAiOptions, "api" | "baseUrl">): Way {
  return (api ?? defaultWay(baseUrl)) === "responses" ? responsesWay : chatWay;
}

/** How a server with this address is asked where nothing says it; null: OpenAI's own. */
export function defaultWay(baseUrl: string | null): WayName {
  const { hostname } = new URL(baseUrl ?? OPENAI_BASE_URL);
  return hostname === OPENAI_HOST || hostname.endsWith(`.${OPENAI_HOST}`) ? "responses" : "chat";
}

function postOver(
  http: PushFetch,
  way: Way,
  options: Pick<OpenAiOptions, "apiKey" | "baseUrl" | "headers">,
): PostChat {
  return createPostChat(http, way, { ...clientOptions(options), timeout: NEVER_MS });
}

/** Sets everything that the package would otherwise read from the environment: only config.ts reads that. */
function clientOptions({
  apiKey,
  baseUrl,
  headers = {},
}: Pick<OpenAiOptions, "apiKey" | "baseUrl" | "headers">): ClientOptions {
  const { address, query } = withoutQuery(baseUrl ?? OPENAI_BASE_URL);
  return {
    apiKey: apiKey ?? NO_KEY,
    baseURL: address,
    defaultQuery: query,
    defaultHeaders: { ...keyHeaders({ apiKey, baseUrl, headers }), ...headers },
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: "off",
  };
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
