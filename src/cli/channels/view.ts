import type { AgentSettings, Channel, McpServer } from "../../domain/channel.ts";
import type { Secret } from "../../secret.ts";
import { printFields, printJson } from "../print.ts";
import type { Terminal } from "../terminal.ts";

/** Prints one channel; its secret key only if it was just made. */
export function printChannel(
  terminal: Terminal,
  channel: Channel,
  options: { json?: boolean },
  secretKey: Secret | null = null,
): void {
  const view = channelView(channel, secretKey);
  if (options.json) printJson(terminal, view);
  else printFields(terminal, view);
}

/** A channel by the names of CHANNELS_FILE. */
export function channelView(channel: Channel, secretKey: Secret | null = null): Record<string, unknown> {
  const { slug, kind, publishableKey, allowedOrigins, enabled, accessMode, agent } = channel;
  return {
    slug,
    kind,
    ...(kind === "web" ? { publishableKey } : {}),
    ...(secretKey === null ? {} : { secretKey: secretKey.reveal() }),
    ...(kind === "web" ? { allowedOrigins } : {}),
    enabled,
    accessMode,
    agent: withoutSecrets(agent),
  };
}

/** Names of variables are shown, and what may be a key is not. */
function withoutSecrets(agent: AgentSettings): AgentSettings {
  if (agent.mcpServers === undefined) return agent;
  const servers = Object.entries(agent.mcpServers).map(([name, server]): [string, McpServer] => {
    if (!("url" in server)) return [name, server];
    const { headers, identity, ...rest } = server;
    const hidden = Object.entries(headers ?? {}).map(([header, value]) => [header, shownValue(value)]);
    return [
      name,
      {
        ...rest,
        ...(headers ? { headers: Object.fromEntries(hidden) as Record<string, string> } : {}),
        ...(identity ? { identity: { key: shownValue(identity.key) } } : {}),
      },
    ];
  });
  return { ...agent, mcpServers: Object.fromEntries(servers) };
}

function shownValue(value: string): string {
  return /^\$[A-Za-z_][A-Za-z0-9_]*$/.test(value) ? value : "[secret]";
}
