import type { AgentSettings, Channel, McpServer, RetentionField } from "../../domain/channels/channel.ts";
import type { FieldOptions } from "./field-options.ts";

/** A channel as the operator API shows it. */
export type ChannelView = Pick<Channel, "slug" | "kind" | "enabled" | "accessMode" | "agent" | "retention"> &
  Partial<Pick<Channel, "allowedOrigins">> & { [field: string]: unknown };

/** The body that makes a channel of these options. */
export function newChannelOf(slug: string, options: FieldOptions): object {
  const { kind, agent, instructions, model } = options;
  return { slug, kind, ...plainFields(options), agent: { ...agent, instructions, model } };
}

/** The body that changes a channel as the options say; `--agent` replaces all settings of the agent. */
export function changeOf(channel: ChannelView, options: FieldOptions): object {
  const { kind, agent, instructions, model } = options;
  const settings = {
    ...(agent && replacing(channel.agent, agent)),
    ...(instructions === undefined ? {} : { instructions }),
    ...(model === undefined ? {} : { model }),
  };
  return {
    kind,
    ...plainFields(options, channel),
    addOrigins: options.addOrigin,
    removeOrigins: options.removeOrigin,
    agent: Object.keys(settings).length === 0 ? undefined : settings,
  };
}

function plainFields(options: FieldOptions, channel?: ChannelView): object {
  const { accessMode, publishableKey, secretKey, webhooks, origin } = options;
  const retention = retentionOf(channel, options);
  return { accessMode, publishableKey, secretKey, webhooks, allowedOrigins: origin, retention };
}

/** undefined: unchanged. */
function retentionOf(channel: ChannelView | undefined, options: FieldOptions): RetentionField | undefined {
  const { threadsDays, anonymousDays } = options;
  if (threadsDays === undefined && anonymousDays === undefined) return undefined;
  const days = (written: number | "never" | undefined, before: number | undefined) =>
    written === "never" ? undefined : (written ?? before);
  const threads = days(threadsDays, channel?.retention?.threadsDays);
  const anonymous = days(anonymousDays, channel?.retention?.anonymousDays);
  return {
    ...(threads === undefined ? {} : { threadsDays: threads }),
    ...(anonymous === undefined ? {} : { anonymousDays: anonymous }),
  };
}

/** A change keeps what it leaves out, so null takes away each setting, server and secret that the new settings lack. */
function replacing(stored: AgentSettings, agent: AgentSettings): object {
  const { mcpServers: servers } = agent;
  const known = stored.mcpServers ?? {};
  return {
    ...nulls(Object.keys(stored)),
    ...agent,
    ...(servers ? { mcpServers: { ...nulls(Object.keys(known)), ...withoutKept(servers) } } : {}),
  };
}

function withoutKept(servers: Record<string, McpServer>): object {
  const secrets = nulls(["headers", "identity", "oauth"]);
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [name, { ...secrets, ...server }]),
  );
}

function nulls(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}
