import type { AgentSettings, Channel, McpHttpServer, McpServer } from "../domain/channel.ts";
import {
  applyFields,
  changedFields,
  channelFieldsSchema,
  complaint,
  sharedKey,
  splitAgent,
} from "../domain/channel-fields.ts";
import { messageOf } from "../errors.ts";
import { hashKey, newChannelKeys } from "../keys.ts";
import type { ChannelKeys } from "../keys.ts";
import { Secret } from "../secret.ts";
import type { ChannelStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

type Writing = Acting<Pick<ChannelStore, "channels" | "putChannel">>;

/** What was written is no channel; the message says which field, and why. */
export class BadChannel extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadChannel";
  }
}

/** The channel that the fields make of the stored one, checked as CHANNELS_FILE is. Throws BadChannel. */
export function channelFrom(slug: string, stored: Channel | null, fields: object): Channel {
  const parsed = channelFieldsSchema.safeParse({ ...fields, slug });
  if (!parsed.success) throw new BadChannel(complaint(parsed.error));
  const { secretKey, ...written } = parsed.data;
  if (secretKey?.startsWith("$")) throw new BadChannel("secretKey must start with sk_");
  const [process] = Object.keys(splitAgent(written.agent ?? {}).processes);
  if (process !== undefined) {
    throw new BadChannel(`MCP server ${process} is a command: those stand in CHANNELS_FILE alone`);
  }
  const hashed = secretKey === undefined ? {} : { secretKeyHash: hashKey(new Secret(secretKey)) };
  try {
    return applyFields(stored, { ...written, ...hashed });
  } catch (error) {
    throw new BadChannel(messageOf(error));
  }
}

/** The slug of the channel that has the same publishable key: nothing was written then. Null: the channel is written. */
export async function writeChannel(
  acting: Writing,
  channel: Channel,
  stored: Channel | null,
): Promise<string | null> {
  const { slug } = channel;
  const others = (await acting.store.channels(() => {})).filter((other) => other.slug !== slug);
  const shared = sharedKey([...others, channel]);
  if (shared !== null) return shared.find((other) => other !== slug) ?? slug;
  const fields = stored === null ? [] : changedFields(stored, channel);
  const detail = fields.length > 0 ? { detail: { fields } } : {};
  await note(acting, { action: actionOf(stored, channel, fields), target: slug, slug, ...detail });
  await acting.store.putChannel(channel);
  return null;
}

/** In the words of the command line. */
function actionOf(stored: Channel | null, channel: Channel, fields: readonly string[]): string {
  if (stored === null) return "channels.create";
  if (fields.length === 1 && fields[0] === "enabled")
    return channel.enabled ? "channels.enable" : "channels.disable";
  return "channels.update";
}

/** Both keys of a web channel anew: the old ones end at once. */
export async function rotateKeys(
  acting: Writing,
  stored: Channel,
): Promise<{ channel: Channel; keys: ChannelKeys }> {
  const { slug } = stored;
  const keys = newChannelKeys();
  const { publishableKey, secretKey } = keys;
  const channel = { ...stored, publishableKey, secretKeyHash: hashKey(secretKey) };
  await note(acting, { action: "channels.rotate-keys", target: slug, slug });
  await acting.store.putChannel(channel);
  return { channel, keys };
}

/** Stands for a secret; written back, it means the secret that is there. */
export const HIDDEN = "[secret]";

/** A channel by the names of CHANNELS_FILE, without its secrets. `secretKey`: where it was just made. */
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

function withoutSecrets(agent: AgentSettings): AgentSettings {
  if (agent.mcpServers === undefined) return agent;
  const servers = Object.entries(agent.mcpServers).map(([name, server]): [string, McpServer] => {
    if (!isHttp(server)) return [name, server];
    const { headers, identity, ...rest } = server;
    const shown: McpHttpServer = { ...rest };
    if (headers) shown.headers = Object.fromEntries(Object.keys(headers).map((header) => [header, HIDDEN]));
    // The name of a key's variable is no secret.
    if (identity) shown.identity = { key: identity.key.startsWith("$") ? identity.key : HIDDEN };
    return [name, shown];
  });
  return { ...agent, mcpServers: Object.fromEntries(servers) };
}

function isHttp(server: McpServer): server is McpHttpServer {
  return "url" in server;
}

/** An agent's settings as a change writes them: null takes a setting, or a server, away. */
export interface AgentChange {
  [field: string]: unknown;
  mcpServers?: Record<string, ServerChange | null> | null | undefined;
}

type ServerChange = Record<string, unknown> & {
  headers?: Record<string, unknown> | undefined;
  identity?: { key?: unknown } | undefined;
};

/** The stored settings with the change: what it leaves out stays, and so do secrets that it leaves out or that stand as HIDDEN. */
export function changedAgent(stored: AgentSettings, change: AgentChange): Record<string, unknown> {
  const { mcpServers: servers, ...fields } = change;
  const agent = without({ ...stored, ...fields }, null);
  if (servers === undefined) return agent;
  if (servers === null) return without({ ...agent, mcpServers: null }, null);
  const changed = Object.entries(servers).map(([name, server]) => {
    const known = stored.mcpServers?.[name];
    return [name, server && withKeptSecrets(server, known && isHttp(known) ? known : null)];
  });
  return { ...agent, mcpServers: without({ ...stored.mcpServers, ...Object.fromEntries(changed) }, null) };
}

function withKeptSecrets(server: ServerChange, stored: McpHttpServer | null): ServerChange {
  const headers = stored?.headers ?? {};
  const kept: ServerChange = { ...server };
  if (server.headers === undefined && stored?.headers) kept.headers = headers;
  else if (server.headers) {
    const written = Object.entries(server.headers);
    kept.headers = Object.fromEntries(
      written.map(([name, value]) => [name, value === HIDDEN ? headers[name] : value]),
    );
  }
  const isLeftOut = server.identity === undefined || server.identity.key === HIDDEN;
  if (isLeftOut && (stored?.identity || server.identity)) kept.identity = stored?.identity;
  return kept;
}

function without(fields: Record<string, unknown>, value: null): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== value));
}
