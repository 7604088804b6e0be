import { z } from "zod";
import { ConfigError } from "./config/config-error.ts";
import { contentKeys } from "./config/content-keys.ts";
import { filesOf, filesVariables } from "./config/files.ts";
import type { FilesSettings } from "./config/files.ts";
import type { ContentKeys } from "./config/content-keys.ts";
import {
  callersKeys,
  httpUrl,
  isLoopback,
  key,
  MOST,
  oneOf,
  processes,
  redisUrls,
  timer,
  tokens,
  whole,
} from "./config/kinds.ts";
import { openIdOf, openIdVariables, secureAddress } from "./config/open-id.ts";
import type { OpenIdSettings } from "./config/open-id.ts";
import { tracingOf, tracingVariables } from "./config/tracing.ts";
import type { TracingSettings } from "./config/tracing.ts";
import { Secret } from "./secret.ts";

/**
 * The service's configuration: the settings of src/cli/README.md, parsed once. The only reader of process.env.
 * An empty variable counts as unset, except an empty HARNESS_API_KEY: that would be a key that everybody knows.
 */
export interface Limits {
  maxTextChars: number;
  maxCatalogChars: number;
  maxBodyBytes: number;
  messagesPerMinute: number;
  ipMessagesPerMinute: number;
  toolResultsPerMinute: number;
  ipToolResultsPerMinute: number;
  filesPerHour: number;
  ipFilesPerHour: number;
  ratingsPerMinute: number;
  ipRatingsPerMinute: number;
  threadsPerHour: number;
  visitorsPerHourPerIp: number;
  readsPerMinute: number;
  ipReadsPerMinute: number;
  /** An IPv6 /48 may do this many times as much as one address. */
  networkFactor: number;
}

export interface Config {
  host: string;
  port: number;
  /** How many processes a supervisor keeps running; null: this process serves by itself. */
  processes: number | null;
  /** Whether the demo's page, channel and sign-in without a password are on. */
  demo: boolean;
  /** True if the demo is off only because other machines can reach HOST. */
  isDemoHeldBack: boolean;
  /** null: PORT + 1, or any free port. */
  demoPort: number | null;
  /** null: generated, and kept in DATA_DIR/keys.json. */
  harnessApiKey: Secret | null;
  /** Further valid keys: HARNESS_API_KEY may have several. */
  olderApiKeys: Secret[];
  /** Whether log lines of 401, 403 and 429 have the client's address. */
  logAddresses: boolean;
  /** Empty: the embedded store. Several: the seed nodes of a Redis Cluster. Secret: an address may carry a password. */
  redisUrls: Secret[];
  dataDir: string;
  files: FilesSettings;
  /** null: contents are stored as plain text. */
  contentKeys: ContentKeys | null;
  channelsFile: string | null;
  /** null: the OPENAI_… variables define the only provider. */
  providersFile: string | null;
  openai: {
    apiKey: Secret | null;
    baseUrl: string | null;
    model: string;
    /** null: by the address. */
    api: "chat" | "responses" | null;
  };
  /** OPENAI_API_KEY is set, to nothing: somebody meant to give one. */
  isModelKeyEmpty: boolean;
  /** MODEL=demo: the offline demo model answers, whatever else is set. */
  isDemoModel: boolean;
  modelTimeoutMs: number;
  runTimeoutMs: number;
  runMaxToolCalls: number;
  toolResultTimeoutMs: number;
  runMaxReplyChars: number;
  threadQueueMax: number;
  agentMaxInputTokens: number;
  /** Caps of the installation, and of one client address; null: none. */
  maxTokensPerDay: number | null;
  addressMaxTokensPerDay: number | null;
  durability: "local" | "replica";
  listener: "uws" | "node" | null;
  /** The longest head of a request; a listener takes up to twice as much, so that the API can refuse it. */
  maxHeadBytes: number;
  /** How long a connection without a request stays open. */
  keepAliveMs: number;
  /** The operator API, and its page. */
  console: boolean;
  /** Signing in to the console by OpenID Connect; null: only by key. */
  openId: OpenIdSettings | null;
  /** The reference, and the API's description. */
  swagger: boolean;
  metricsPort: number | null;
  /** Webhooks may go to private addresses. */
  webhooksPrivate: boolean;
  mcpPrivate: boolean;
  /** `only`: this instance answers platforms, and /health, and nothing else over HTTP. */
  messengers: "on" | "off" | "only";
  /** Documents may be read from private addresses, and from the disk where the operator API names a place on it. */
  knowledgePrivate: boolean;
  /** The service's address as visitors' browsers reach it, without a slash at the end; null: unset. */
  publicUrl: string | null;
  /** OpenTelemetry's traces; null: off. */
  tracing: TracingSettings | null;
  limits: Limits;
  visitorTtlMs: number;
  /** null: a token ends only by lack of use. */
  visitorMaxAgeMs: number | null;
  serverMaxBodyBytes: number;
  /** `socket`, or a lower-case header name. */
  clientIpSource: string;
  trustedProxyHops: number;
  shutdownGraceMs: number;
  logLevel: LogLevel;
}

export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The values of these are never printed: each is a secret, or an address that may contain one. */
const SECRETS: ReadonlySet<string> = new Set([
  "CONTENT_KEYS",
  "FILES_ACCESS_KEY_ID",
  "FILES_SECRET_ACCESS_KEY",
  "HARNESS_API_KEY",
  "OIDC_CLIENT_SECRET",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "REDIS_URL",
]);

const TEN_YEARS_SECONDS = 315_360_000;

const variables = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: whole(0, 65_535).default(8080),
  PROCESSES: processes().default(null),
  DEMO: oneOf(["on", "off"]).nullable().default(null),
  DEMO_PORT: whole(1, 65_535).nullable().default(null),
  HARNESS_API_KEY: callersKeys().default([]),
  REDIS_URL: redisUrls().default([]),
  DATA_DIR: z.string().default("./data"),
  CONTENT_KEYS: contentKeys().nullable().default(null),
  CHANNELS_FILE: z.string().nullable().default(null),
  PROVIDERS_FILE: z.string().nullable().default(null),
  MODEL: oneOf(["demo"]).nullable().default(null),
  OPENAI_API_KEY: key().nullable().default(null),
  OPENAI_BASE_URL: httpUrl().nullable().default(null),
  OPENAI_API: oneOf(["chat", "responses"]).nullable().default(null),
  OPENAI_MODEL: z.string().default("gpt-5-mini"),
  MODEL_TIMEOUT_SECONDS: timer(1).default(60),
  RUN_TIMEOUT_SECONDS: timer(1).default(300),
  RUN_MAX_TOOL_CALLS: whole(1, MOST).default(50),
  TOOL_RESULT_TIMEOUT_SECONDS: timer(1).default(600),
  RUN_MAX_REPLY_CHARS: whole(1, MOST).default(10_000_000),
  THREAD_QUEUE_MAX: whole(0, MOST).default(8),
  AGENT_MAX_INPUT_TOKENS: whole(1, MOST).default(32_000),
  MAX_TOKENS_PER_DAY: tokens().nullable().default(null),
  ADDRESS_MAX_TOKENS_PER_DAY: tokens().nullable().default(null),
  DURABILITY: oneOf(["local", "replica"]).default("local"),
  LISTENER: oneOf(["uws", "node"]).nullable().default(null),
  MAX_HEAD_BYTES: whole(4_096, 65_536).default(16_384),
  KEEP_ALIVE_SECONDS: whole(1, 900).default(75),
  CONSOLE: oneOf(["on", "off"]).default("on"),
  ...openIdVariables,
  SWAGGER: oneOf(["on", "off"]).default("on"),
  METRICS_PORT: whole(1, 65_535).nullable().default(null),
  WEBHOOKS_PRIVATE: oneOf(["on", "off"]).default("off"),
  MCP_PRIVATE: oneOf(["on", "off"]).default("off"),
  MESSENGERS: oneOf(["on", "off", "only"]).default("on"),
  KNOWLEDGE_PRIVATE: oneOf(["on", "off"]).default("off"),
  PUBLIC_URL: secureAddress().nullable().default(null),
  ...filesVariables,
  ...tracingVariables,
  WIDGET_MAX_TEXT_CHARS: whole(1, MOST).default(2_000),
  WIDGET_MAX_WEBMCP_TOOLS_CHARS: whole(1, MOST).default(20_000),
  WIDGET_MAX_BODY_BYTES: whole(1, MOST).default(131_072),
  WIDGET_MESSAGES_PER_MINUTE: whole(1, MOST).default(10),
  WIDGET_IP_MESSAGES_PER_MINUTE: whole(1, MOST).default(30),
  WIDGET_TOOL_RESULTS_PER_MINUTE: whole(1, MOST).default(120),
  WIDGET_IP_TOOL_RESULTS_PER_MINUTE: whole(1, MOST).default(600),
  WIDGET_FILES_PER_HOUR: whole(1, MOST).default(40),
  WIDGET_IP_FILES_PER_HOUR: whole(1, MOST).default(120),
  WIDGET_RATINGS_PER_MINUTE: whole(1, MOST).default(20),
  WIDGET_IP_RATINGS_PER_MINUTE: whole(1, MOST).default(100),
  WIDGET_THREADS_PER_HOUR: whole(1, MOST).default(30),
  WIDGET_VISITORS_PER_HOUR_PER_IP: whole(1, MOST).default(20),
  WIDGET_READS_PER_MINUTE: whole(1, MOST).default(1_200),
  WIDGET_IP_READS_PER_MINUTE: whole(1, MOST).default(6_000),
  WIDGET_IPV6_NETWORK_FACTOR: whole(1, 65_536).default(10),
  WIDGET_VISITOR_TTL_SECONDS: whole(1, TEN_YEARS_SECONDS).default(86_400),
  WIDGET_VISITOR_MAX_AGE_SECONDS: whole(1, TEN_YEARS_SECONDS).nullable().default(null),
  SERVER_MAX_BODY_BYTES: whole(1, MOST).default(1_048_576),
  CLIENT_IP_SOURCE: z
    .string()
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "socket, or the name of a header")
    .transform((name) => name.toLowerCase())
    .default("socket"),
  TRUSTED_PROXY_HOPS: whole(1, 99).default(1),
  SHUTDOWN_GRACE_SECONDS: timer(0).default(30),
  LOG_ADDRESSES: oneOf(["on", "off"]).default("on"),
  LOG_LEVEL: oneOf(LOG_LEVELS).default("info"),
});

export const settingNames: readonly string[] = Object.keys(variables.shape);

/** Prefixes of variables that packages of this service read by themselves, secrets among them. */
const PACKAGES_PREFIXES = ["OPENAI_", "OTEL_", "OIDC_"];

/** Is this variable a setting of the service itself? */
export function isSetting(name: string): boolean {
  return name in variables.shape || PACKAGES_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/** Throws ConfigError with one line that names every variable that does not parse. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(
    settingNames
      .filter((name) => env[name] !== undefined && (env[name] !== "" || name === "HARNESS_API_KEY"))
      .map((name) => [name, env[name]]),
  );
  const parsed = variables.safeParse(given);
  if (!parsed.success) {
    const wrong = new Map(parsed.error.issues.map((issue) => [String(issue.path[0]), issue.message]));
    const complaints = [...wrong].map(
      ([name, takes]) => `${name} is ${shown(name, given[name])}, it takes ${takes}`,
    );
    throw new ConfigError(`Cannot read the configuration: ${complaints.join("; ")}`);
  }

  const value = parsed.data;
  if (value.DURABILITY === "replica" && value.REDIS_URL.length === 0) {
    throw new ConfigError(
      'Cannot read the configuration: DURABILITY is "replica", it takes a Redis with a replica, and REDIS_URL is unset',
    );
  }
  if (value.PROCESSES !== null && value.REDIS_URL.length === 0) {
    throw new ConfigError(
      `Cannot read the configuration: PROCESSES is ${JSON.stringify(given["PROCESSES"])}, it takes a store that processes share, and REDIS_URL is unset`,
    );
  }
  return configOf(value, openIdOf(value), env["OPENAI_API_KEY"] === "");
}

/** The names of all settings. */
export const SETTINGS: readonly string[] = Object.keys(variables.shape);

function configOf(
  value: z.infer<typeof variables>,
  openId: OpenIdSettings | null,
  isModelKeyEmpty: boolean,
): Config {
  const isUnconfigured = value.CHANNELS_FILE === null;
  return {
    host: value.HOST,
    port: value.PORT,
    processes: value.PROCESSES,
    demo: value.DEMO === null ? isUnconfigured && isLoopback(value.HOST) : value.DEMO === "on",
    isDemoHeldBack: value.DEMO === null && isUnconfigured && !isLoopback(value.HOST),
    demoPort: value.DEMO_PORT,
    harnessApiKey: value.HARNESS_API_KEY[0] ?? null,
    olderApiKeys: value.HARNESS_API_KEY.slice(1),
    logAddresses: value.LOG_ADDRESSES === "on",
    redisUrls: value.REDIS_URL,
    dataDir: value.DATA_DIR,
    files: filesOf(value),
    contentKeys: value.CONTENT_KEYS,
    channelsFile: value.CHANNELS_FILE,
    providersFile: value.PROVIDERS_FILE,
    openai: {
      apiKey: value.OPENAI_API_KEY,
      baseUrl: value.OPENAI_BASE_URL,
      model: value.OPENAI_MODEL,
      api: value.OPENAI_API,
    },
    isModelKeyEmpty,
    isDemoModel: value.MODEL === "demo",
    modelTimeoutMs: value.MODEL_TIMEOUT_SECONDS * 1000,
    runTimeoutMs: value.RUN_TIMEOUT_SECONDS * 1000,
    runMaxToolCalls: value.RUN_MAX_TOOL_CALLS,
    toolResultTimeoutMs: value.TOOL_RESULT_TIMEOUT_SECONDS * 1000,
    runMaxReplyChars: value.RUN_MAX_REPLY_CHARS,
    threadQueueMax: value.THREAD_QUEUE_MAX,
    agentMaxInputTokens: value.AGENT_MAX_INPUT_TOKENS,
    maxTokensPerDay: value.MAX_TOKENS_PER_DAY,
    addressMaxTokensPerDay: value.ADDRESS_MAX_TOKENS_PER_DAY,
    durability: value.DURABILITY,
    listener: value.LISTENER,
    maxHeadBytes: value.MAX_HEAD_BYTES,
    keepAliveMs: value.KEEP_ALIVE_SECONDS * 1000,
    console: value.CONSOLE === "on",
    openId,
    swagger: value.SWAGGER === "on",
    metricsPort: value.METRICS_PORT,
    webhooksPrivate: value.WEBHOOKS_PRIVATE === "on",
    mcpPrivate: value.MCP_PRIVATE === "on",
    messengers: value.MESSENGERS,
    knowledgePrivate: value.KNOWLEDGE_PRIVATE === "on",
    publicUrl: value.PUBLIC_URL?.replace(/\/$/, "") ?? null,
    tracing: tracingOf(value),
    limits: {
      maxTextChars: value.WIDGET_MAX_TEXT_CHARS,
      maxCatalogChars: value.WIDGET_MAX_WEBMCP_TOOLS_CHARS,
      maxBodyBytes: value.WIDGET_MAX_BODY_BYTES,
      messagesPerMinute: value.WIDGET_MESSAGES_PER_MINUTE,
      ipMessagesPerMinute: value.WIDGET_IP_MESSAGES_PER_MINUTE,
      toolResultsPerMinute: value.WIDGET_TOOL_RESULTS_PER_MINUTE,
      ipToolResultsPerMinute: value.WIDGET_IP_TOOL_RESULTS_PER_MINUTE,
      filesPerHour: value.WIDGET_FILES_PER_HOUR,
      ipFilesPerHour: value.WIDGET_IP_FILES_PER_HOUR,
      ratingsPerMinute: value.WIDGET_RATINGS_PER_MINUTE,
      ipRatingsPerMinute: value.WIDGET_IP_RATINGS_PER_MINUTE,
      threadsPerHour: value.WIDGET_THREADS_PER_HOUR,
      visitorsPerHourPerIp: value.WIDGET_VISITORS_PER_HOUR_PER_IP,
      readsPerMinute: value.WIDGET_READS_PER_MINUTE,
      ipReadsPerMinute: value.WIDGET_IP_READS_PER_MINUTE,
      networkFactor: value.WIDGET_IPV6_NETWORK_FACTOR,
    },
    visitorTtlMs: value.WIDGET_VISITOR_TTL_SECONDS * 1000,
    visitorMaxAgeMs: inMs(value.WIDGET_VISITOR_MAX_AGE_SECONDS),
    serverMaxBodyBytes: value.SERVER_MAX_BODY_BYTES,
    clientIpSource: value.CLIENT_IP_SOURCE,
    trustedProxyHops: value.TRUSTED_PROXY_HOPS,
    shutdownGraceMs: value.SHUTDOWN_GRACE_SECONDS * 1000,
    logLevel: value.LOG_LEVEL,
  };
}

function inMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

/** The address of a service with these settings, as seen from its own machine, without a slash at the end. */
export function addressOf({ host, port }: Pick<Config, "host" | "port">): string {
  // A wildcard address cannot be connected to.
  const reachable = ["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** The names of all variables, and whether each is set. */
export function environment(): Readonly<NodeJS.ProcessEnv> {
  return process.env;
}

const named = new Set<string>();

/** Did a file or a channel name this variable in this process? */
export function isNamed(name: string): boolean {
  return named.has(name);
}

/** A variable that a file refers to as `"$NAME"`; null if it is unset or empty. */
export function readVariable(name: string, env: NodeJS.ProcessEnv = process.env): Secret | null {
  named.add(name);
  const value = env[name];
  return value === undefined || value === "" ? null : new Secret(value);
}

/** Sets a variable that a library reads when it loads. */
export function setLibraryVariable(name: string, value: string): void {
  process.env[name] = value;
}

/** Every secret of a configuration, for the log to hide; a Redis password also separately, because Redis errors may quote it. */
export function secretsOf(config: Config): Secret[] {
  const passwords = config.redisUrls.map((url) => decodeURIComponent(new URL(url.reveal()).password));
  return [
    ...[
      config.harnessApiKey,
      ...config.olderApiKeys,
      config.openai.apiKey,
      config.openId?.clientSecret ?? null,
      config.files.place && "bucket" in config.files.place ? config.files.place.secretAccessKey : null,
    ].filter((secret) => secret !== null),
    ...(config.contentKeys?.keys ?? []).map(({ key: secret }) => secret),
    ...passwords.filter((password) => password !== "").map((password) => new Secret(password)),
  ];
}

function shown(name: string, value: string | undefined): string {
  if (value === "") return "empty";
  return SECRETS.has(name) ? "not usable (its value is not shown)" : JSON.stringify(value);
}
