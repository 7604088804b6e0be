import type { Approver } from "../../../machines/run.ts";
import type { HandoffField } from "../threads/hand-off.ts";
import type { MessengerField } from "./messenger.ts";
import type { WebhookField } from "./webhook.ts";
import type { KnowledgeField } from "./knowledge.ts";
import type { OlderKeys } from "./older-keys.ts";

/** A channel: a door to the agent, with its keys, its origins and the agent behind it (the spec, Channel). */
export type ChannelKind = "web" | "transport";

/** `whitelist`: users are allowed only when whitelisted. */
export type AccessMode = "open" | "whitelist";

interface AnyMcpServer {
  /** By the tools' own names. Without `allow`, all tools are offered except those in `deny` and those marked as destructive. */
  tools?: { allow?: string[]; deny?: string[] };
  timeouts?: { connectSeconds?: number; callSeconds?: number };
}

/** An MCP server reached over Streamable HTTP. */
export interface McpHttpServer extends AnyMcpServer {
  url: string;
  /** A value may be `$NAME`, a variable of the instance that makes the call. */
  headers?: Record<string, string>;
  /** Requests carry a token that names the user, signed with this key: `$NAME` of a variable. */
  identity?: { key: string };
  /** How requests get their tokens. */
  oauth?: ServiceOAuth | VisitorOAuth;
}

/** The service signs in at this authorization server (client credentials); the first two are `$NAME` of a variable. */
export interface ServiceOAuth {
  perUser?: undefined;
  clientId: string;
  clientSecret: string;
  issuer: string;
  scope?: string;
}

/** Each visitor signs in (authorization code): tokens are the visitor's own. */
export interface VisitorOAuth {
  perUser: true;
  /** Absent: the service registers itself. */
  clientId?: string;
  clientSecret?: string;
  /** Absent: the MCP server's own origin. */
  issuer?: string;
  scope?: string;
}

/** An MCP server started as a process; it comes only from this instance's own CHANNELS_FILE, never from the store. */
export interface McpProcessServer extends AnyMcpServer {
  command: string;
  args?: string[];
  env?: Record<string, string>;
}

export type McpServer = McpHttpServer | McpProcessServer;

/** How much of a long conversation the model is sent. */
export interface HistorySettings {
  /** Characters of earlier messages; absent: 160,000. */
  maxChars?: number;
  /** What no longer fits is summarised. */
  summary?: boolean;
  /** As `model`, for the summaries; absent: the one that answers. */
  summaryModel?: string;
}

/** A message waits for its turn, or until the model is asked again, or ends the run that goes on. */
export type WhileRunning = "queue" | "steer" | "interrupt";

export interface ToolSettings {
  /** The own names of the tools whose calls wait until they are approved. */
  confirm: string[];
  /** Who approves them. Absent: the visitor. */
  by?: Approver;
}

export interface AgentSettings {
  instructions?: string;
  /** PROVIDER/MODEL, a name of PROVIDERS_FILE's `models`, or a model of the only provider. */
  model?: string;
  temperature?: number;
  reasoningEffort?: string;
  /** Additional fields of each request to the model. */
  body?: Record<string, unknown>;
  /** Messages may come with images. Absent: they may not. */
  images?: boolean;
  /** Messages may come with files. Absent: they may. */
  files?: boolean;
  /** Images may come as https addresses, too, which the model's server fetches. Absent: they may. */
  imageAddresses?: boolean;
  /** What a message does that comes while a run goes on. Absent: `queue`. */
  whileRunning?: WhileRunning;
  /** Which tools of its MCP servers are only used with approval; absent: none is. */
  tools?: ToolSettings;
  mcpServers?: Record<string, McpServer>;
  history?: HistorySettings;
  maxOutputTokensPerRun?: number;
  /** Input and output tokens of one user in one UTC day. */
  maxTokensPerUserPerDay?: number;
  /** The same for all users of the channel together. */
  maxTokensPerDay?: number;
}

/** In days; fractions are allowed. */
export interface RetentionField {
  /** Threads without a message for this long are deleted. */
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
  /** Of each earlier publishable key what publishableHash() makes of it: pages still carry them. Absent: none. */
  retiredKeys?: string[];
  allowedOrigins: string[];
  enabled: boolean;
  accessMode: AccessMode;
  agent: AgentSettings;
  /** Whether and how a person may take over; absent: nobody may. */
  handoff?: HandoffField;
  /** Receivers of the channel's events; absent: none. */
  webhooks?: WebhookField[];
  /** Of a transport channel: the platform whose users talk here; absent: none. */
  messenger?: MessengerField;
  /** Older data is deleted automatically; absent: nothing is. */
  retention?: RetentionField;
  /** Documents that the assistant answers from; absent: none. */
  knowledge?: KnowledgeField;
}
