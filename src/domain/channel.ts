/** A channel: a door to the agent, with its keys, its origins and the agent behind it (the spec, Channel). */
export type ChannelKind = "web" | "transport";

/** `whitelist`: users are allowed only when whitelisted. */
export type AccessMode = "open" | "whitelist";

/** An MCP server reached over Streamable HTTP. */
export interface McpHttpServer {
  url: string;
  headers?: Record<string, string>;
}

/** An MCP server started as a process; only ever from this instance's own CHANNELS_FILE, never from the store. */
export interface McpProcessServer {
  command: string;
  args?: string[];
  env?: Record<string, string>;
}

export type McpServer = McpHttpServer | McpProcessServer;

export interface AgentSettings {
  instructions?: string;
  /** PROVIDER/MODEL, a name of PROVIDERS_FILE's `models`, or a model of the only provider. */
  model?: string;
  temperature?: number;
  reasoningEffort?: string;
  /** Further fields of each request to the model. */
  body?: Record<string, unknown>;
  mcpServers?: Record<string, McpServer>;
  maxOutputTokensPerRun?: number;
  /** Input and output tokens of one user in one UTC day. */
  maxTokensPerUserPerDay?: number;
}

export interface Channel {
  /** 1 to 64 of `a-z 0-9 - _` */
  slug: string;
  kind: ChannelKind;
  /** `pk_…`, public; null on a transport channel. */
  publishableKey: string | null;
  /** SHA-256 of the `sk_…` key, lower-case hex; null on a transport channel. The key itself is never stored. */
  secretKeyHash: string | null;
  allowedOrigins: string[];
  enabled: boolean;
  accessMode: AccessMode;
  agent: AgentSettings;
}
