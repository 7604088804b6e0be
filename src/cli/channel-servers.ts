import { readVariable } from "../config.ts";
import type { Config } from "../config.ts";
import type { McpServer } from "../domain/channels/channel.ts";
import { isNamed } from "../domain/channels/mcp-addresses.ts";
import { readChannelsFile } from "../installation/channels-file.ts";
import type { Store } from "../store.ts";
import { existingChannel } from "./command/existing.ts";
import type { Terminal } from "./command/terminal.ts";

/**
 * A channel's own MCP servers, and those that CHANNELS_FILE starts as processes; and which of them may have a private
 * address, as in the service.
 */
export async function serversOf(
  terminal: Terminal,
  { store, config, slug }: { store: Store; config: Config; slug: string },
): Promise<{
  servers: Record<string, McpServer>;
  allowsPrivate: (slug: string, server: McpServer) => boolean;
}> {
  const { agent } = await existingChannel(store, slug);
  const { channelsFile, mcpPrivate } = config;
  const written =
    channelsFile === null
      ? null
      : await readChannelsFile(channelsFile, (name) => readVariable(name, terminal.env));
  const named = written?.namedServers.get(slug) ?? [];
  return {
    servers: { ...agent.mcpServers, ...written?.processServers.get(slug) },
    allowsPrivate: (_, server) => mcpPrivate || isNamed(server, named),
  };
}
