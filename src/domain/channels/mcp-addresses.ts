import type { AgentSettings, McpServer } from "./channel.ts";
import { closedUrl } from "../public-address.ts";

/** The addresses that a server's settings name: its own, and its issuer's; none of a process. */
function addressesOf(server: McpServer): string[] {
  if (!("url" in server)) return [];
  return [server.url, ...(server.oauth?.issuer === undefined ? [] : [server.oauth.issuer])];
}

/**
 * Does one of these servers have all addresses of this one? Whoever wrote CHANNELS_FILE chose its addresses; a change by
 * the API that keeps them is no other place.
 */
export function isNamed(server: McpServer, named: readonly McpServer[]): boolean {
  return named.some((one) => {
    const known = addressesOf(one);
    return addressesOf(server).every((address) => known.includes(address));
  });
}

/** The first address of the settings that is not public, unless the settings had it before; null: there is none. */
export function closedMcpAddress(settings: AgentSettings, before: AgentSettings = {}): string | null {
  const known = Object.values(before.mcpServers ?? {});
  const changed = Object.values(settings.mcpServers ?? {}).filter((server) => !isNamed(server, known));
  return closedUrl(changed.flatMap(addressesOf).map((url) => ({ url })));
}
