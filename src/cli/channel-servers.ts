import { readVariable } from "../config.ts";
import type { Config } from "../config.ts";
import type { McpServer } from "../domain/channel.ts";
import { readChannelsFile } from "../installation/channels-file.ts";
import type { Store } from "../store.ts";
import { existingChannel } from "./existing.ts";
import type { Terminal } from "./terminal.ts";

/** A channel's own MCP servers, and those that CHANNELS_FILE starts as processes. */
export async function serversOf(
  terminal: Terminal,
  { store, config, slug }: { store: Store; config: Config; slug: string },
): Promise<Record<string, McpServer>> {
  const { agent } = await existingChannel(store, slug);
  const { channelsFile } = config;
  const written =
    channelsFile === null
      ? null
      : await readChannelsFile(channelsFile, (name) => readVariable(name, terminal.env));
  return { ...agent.mcpServers, ...written?.processServers[slug] };
}
