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

/** The name of a key's variable is shown, and a key is not. */
function withoutKeys(agent: AgentSettings): AgentSettings {
  if (agent.mcpServers === undefined) return agent;
  const servers = Object.entries(agent.mcpServers).map(([name, server]): [string, McpServer] => {
    if ("command" in server) return [name, server];
    const { identity, oauth } = server;
    const shown = {
      ...server,
      ...(identity ? { identity: { key: hidden(identity.key) } } : {}),
      ...(oauth ? { oauth: { ...oauth, clientSecret: hidden(oauth.clientSecret) } } : {}),
    };
    return [name, shown];
  });
  return { ...agent, mcpServers: Object.fromEntries(servers) };
}

function hidden(key: string): string {
  return key.startsWith("$") ? key : "[secret]";
}
