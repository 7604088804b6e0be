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
    agent: withoutKeys(agent),
  };
}

function nameOnly(value: string): string {
  return /^\$[A-Za-z_]\w*$/.test(value) ? value : "[secret]";
}

/** The name of a variable is shown; a key is not, and nothing that a header carries. */
function withoutKeys(agent: AgentSettings): AgentSettings {
  if (agent.mcpServers === undefined) return agent;
  const servers = Object.entries(agent.mcpServers).map(([name, server]): [string, McpServer] => {
    if (!("url" in server)) return [name, server];
    const { headers, identity } = server;
    const shown = Object.entries(headers ?? {}).map(([header, value]) => [header, nameOnly(value)]);
    return [
      name,
      {
        ...server,
        ...(headers ? { headers: Object.fromEntries(shown) as Record<string, string> } : {}),
        ...(identity ? { identity: { key: nameOnly(identity.key) } } : {}),
      },
    ];
  });
  return { ...agent, mcpServers: Object.fromEntries(servers) };
}
