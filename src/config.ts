/**
 * The service's configuration: contract.md section 2, parsed once. The only reader of process.env.
 */
export interface Limits {
  maxTextChars: number;
  maxCatalogChars: number;
  maxBodyBytes: number;
  messagesPerMinute: number;
  ipMessagesPerMinute: number;
  toolResultsPerMinute: number;
  threadsPerHour: number;
  visitorsPerHourPerIp: number;
}

export interface Config {
  host: string;
  port: number;
  /** null: PORT + 1, or any free port. */
  demoPort: number | null;
  harnessApiKey: string | null;
  /** Empty: the embedded store. Several: the seed nodes of a Redis Cluster. */
  redisUrls: string[];
  dataDir: string;
  channelsFile: string | null;
  openai: { apiKey: string | null; baseUrl: string | null; model: string };
  modelTimeoutMs: number;
  runTimeoutMs: number;
  runMaxToolCalls: number;
  toolResultTimeoutMs: number;
  runMaxReplyChars: number;
  threadQueueMax: number;
  agentMaxInputTokens: number;
  durability: "local" | "replica";
  listener: "uws" | "node" | null;
  inspector: boolean;
  metricsPort: number | null;
  limits: Limits;
  visitorTtlMs: number;
  serverMaxBodyBytes: number;
  /** `socket`, or a lower-case header name. */
  clientIpSource: string;
  trustedProxyHops: number;
  shutdownGraceMs: number;
  logLevel: string;
}
