import type { HandoffField } from "./hand-off.ts";
import type { WebhookField } from "./webhook.ts";
import type { OlderKeys } from "./older-keys.ts";

/** A channel: a door to the agent, with its keys, its origins and the agent behind it (the spec, Channel). */
export type ChannelKind = "web" | "transport";

/** `whitelist`: users are allowed only when whitelisted. */
export type AccessMode = "open" | "whitelist";

interface AnyMcpServer {
  /** By the tools' own names. Without `allow` all are offered but those that `deny` names and those marked as destructive. */
  tools?: { allow?: string[]; deny?: string[] };
  timeouts?: { connectSeconds?: number; callSeconds?: number };
}

/** An MCP server reached over Streamable HTTP. */
export interface McpHttpServer extends AnyMcpServer {
  url: string;
  /** Values may be `$NAME` of a variable of the instance that calls. */
  headers?: Record<string, string>;
  /** It is told who asks, by a token signed with this key: `$NAME` of a variable. */
  identity?: { key: string };
  /** The service itself signs in at this authorization server (client credentials); `$NAME` of a variable in the first two. */
  oauth?: { clientId: string; clientSecret: string; issuer: string; scope?: string };
}

/** An MCP server started as a process; only ever from this instance's own CHANNELS_FILE, never from the store. */
export interface McpProcessServer extends AnyMcpServer {
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
  /** Messages may come with images. Absent: they may not. */
  images?: boolean;
  mcpServers?: Record<string, McpServer>;
  maxOutputTokensPerRun?: number;
  /** Input and output tokens of one user in one UTC day. */
  maxTokensPerUserPerDay?: number;
  /** Of all its users together. */
  maxTokensPerDay?: number;
}

/** Days, fractions too. */
export interface RetentionField {
  /** Threads without a message for so long are deleted. */
  threadsDays?: number;
  /** Anonymous users without a valid token and without a younger thread are deleted. */
  anonymousDays?: number;
}

export interface Channel {
  /** 1 to 64 of `a-z 0-9 - _` */
  slug: string;
  kind: ChannelKind;
  /** `pk_…`, public; null on a transport channel. */
  publishableKey: string | null;
  /** SHA-256 of the `sk_…` key, lower-case hex; null on a transport channel. The key itself is never stored. */
  secretKeyHash: string | null;
  /** Absent: none. */
  olderKeys?: OlderKeys[];
  allowedOrigins: string[];
  enabled: boolean;
  accessMode: AccessMode;
  agent: AgentSettings;
  /** Whether and how a person may take over; absent: nobody may. */
  handoff?: HandoffField;
  /** Who is told of what happens; absent: nobody. */
  webhooks?: WebhookField[];
  /** What is older is deleted by itself; absent: nothing is. */
  retention?: RetentionField;
}
