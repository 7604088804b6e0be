import { placeOf } from "../domain/channels/knowledge.ts";
import type { KnowledgeField } from "../domain/channels/knowledge.ts";
import type { AgentSettings, Channel, McpServer } from "../domain/channels/channel.ts";

/**
 * Fields of a change that only an admin without channel limits may make. They reach beyond the channel: its keys could be
 * another channel's, its caps bound what it costs the installation, an MCP server's addresses are reached from the service's
 * own network, with the secrets that the channel has for it, and so are places of documents.
 */
export function fieldsForAll(stored: Channel, changed: Channel): string[] {
  const keys = (["publishableKey", "secretKeyHash"] as const)
    .filter((name) => stored[name] !== changed[name])
    .map((name) => (name === "secretKeyHash" ? "secretKey" : name));
  const caps = CAPS.filter((name) => stored.agent[name] !== changed.agent[name]).map(
    (name) => `agent.${name}`,
  );
  return [
    ...keys,
    ...caps,
    ...changedAddresses(stored.agent, changed.agent),
    ...newPlaces(stored.knowledge, changed.knowledge),
  ];
}

const CAPS = ["maxOutputTokensPerRun", "maxTokensPerUserPerDay", "maxTokensPerDay"] as const;

/** Places of documents that the channel did not have. */
function newPlaces(before: KnowledgeField | undefined, after: KnowledgeField | undefined): string[] {
  const known = new Set(before?.sources.map(placeOf));
  return (after?.sources ?? [])
    .filter((source) => !known.has(placeOf(source)))
    .map(({ name }) => `knowledge.sources.${name}`);
}

/** Away with a server is away with its addresses: that is every admin's. */
function changedAddresses(before: AgentSettings, after: AgentSettings): string[] {
  const known = new Map(
    Object.entries(before.mcpServers ?? {}).map(([name, server]) => [name, addressesOf(server)]),
  );
  return Object.entries(after.mcpServers ?? {}).flatMap(([name, server]) =>
    Object.entries(addressesOf(server))
      .filter(([field, address]) => address !== undefined && known.get(name)?.[field] !== address)
      .map(([field]) => `agent.mcpServers.${name}.${field}`),
  );
}

function addressesOf(server: McpServer): Record<string, string | undefined> {
  return "url" in server ? { url: server.url, "oauth.issuer": server.oauth?.issuer } : {};
}
