import type { McpServer } from "../../../domain/channels/channel.ts";
import type { Secret } from "../../../secret.ts";
import type { VisitorTokens } from "../sign-in/visitor-oauth.ts";

/** What a connection to an MCP server is made of. */
export interface ConnectionOptions {
  /** The server's name in the channel's settings. */
  name: string;
  /** The channel that asks. */
  channel: string;
  /** A variable that the settings name as `$NAME`; null where it is unset, or not the channel's to name. */
  variable: (name: string) => Secret | null;
  settings: McpServer;
  timeoutMs: number;
  /** How long a call may take. */
  callMs: number;
  /** True: its address may be private. */
  allowsPrivate: boolean;
  /** The visitor's own tokens; absent: the connection is for all. */
  tokens?: VisitorTokens;
  onToolsChanged: () => void;
  onClosed: () => void;
  /** What the server's process writes to stderr. */
  onStderr: (text: string) => void;
}
