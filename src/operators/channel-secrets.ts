import type { AgentSettings, Channel, McpHttpServer, McpServer } from "../domain/channels/channel.ts";
import { variableName } from "../domain/channels/channel-variables.ts";
import type { KnowledgeField, KnowledgeSource } from "../domain/channels/knowledge.ts";
import { isSecretSetting } from "../domain/channels/messenger.ts";
import type { MessengerField } from "../domain/channels/messenger.ts";
import type { WebhookField } from "../domain/channels/webhook.ts";
import type { Secret } from "../secret.ts";

/** The placeholder of a secret; sent back, it keeps the stored secret. */
export const HIDDEN = "[secret]";

/** Who looks: `outline` is for who only sees that there is something, auditors and agents. */
export type Sight = "whole" | "outline";

/** A channel with the names of CHANNELS_FILE, without its secrets. `secretKey`: if it was just created. */
export function channelView(
  channel: Channel,
  { secretKey = null, sight = "whole" }: { secretKey?: Secret | null; sight?: Sight } = {},
): Record<string, unknown> {
  const { slug, kind, publishableKey, allowedOrigins, enabled, accessMode, agent } = channel;
  const { handoff, webhooks, messenger, retention, knowledge } = channel;
  return {
    slug,
    kind,
    ...(kind === "web" ? { publishableKey } : {}),
    ...(secretKey === null ? {} : { secretKey: secretKey.reveal() }),
    ...(kind === "web" ? { allowedOrigins } : {}),
    enabled,
    accessMode,
    agent: withoutSecrets(agent, sight),
    ...(handoff ? { handoff } : {}),
    ...(webhooks ? { webhooks: webhooks.map((one) => webhookView(one, sight)) } : {}),
    ...(messenger ? { messenger: messengerView(messenger) } : {}),
    ...(retention ? { retention } : {}),
    ...(knowledge ? { knowledge: knowledgeView(knowledge, sight) } : {}),
  };
}

function knowledgeView(knowledge: KnowledgeField, sight: Sight): KnowledgeField {
  return { ...knowledge, sources: knowledge.sources.map((source) => sourceView(source, sight)) };
}

/** As `sight` allows: without queries. */
export function sourceView(source: KnowledgeSource, sight: Sight): KnowledgeSource {
  const { url, sitemap } = source;
  return {
    ...source,
    ...(url === undefined ? {} : { url: addressFor(sight, url) }),
    ...(sitemap === undefined ? {} : { sitemap: addressFor(sight, sitemap) }),
  };
}

function webhookView({ url, secret, events }: WebhookField, sight: Sight): WebhookField {
  return { url: addressFor(sight, url), secret: hidden(secret), ...(events ? { events } : {}) };
}

function messengerView({ type, settings }: MessengerField): MessengerField {
  const shown = Object.entries(settings).map(([name, value]) => [
    name,
    isSecretSetting({ type }, name) ? hidden(value) : value,
  ]);
  return { type, settings: Object.fromEntries(shown) };
}

/** Queries and user names may be secrets: in an outline an address ends with its path. */
export function addressFor(sight: Sight, address: string): string {
  if (sight === "whole" || !URL.canParse(address)) return address;
  const { origin, pathname, search, hash, username, password } = new URL(address);
  return search + hash + username + password === "" ? address : `${origin}${pathname}`;
}

function bodyFor(sight: Sight, body: Record<string, unknown>): Record<string, unknown> {
  return sight === "whole" ? body : Object.fromEntries(Object.keys(body).map((name) => [name, HIDDEN]));
}

function withoutSecrets(agent: AgentSettings, sight: Sight): AgentSettings {
  const settings = { ...agent, ...(agent.body ? { body: bodyFor(sight, agent.body) } : {}) };
  if (agent.mcpServers === undefined) return settings;
  const servers = Object.entries(agent.mcpServers).map(([name, server]): [string, McpServer] => {
    if (!isHttp(server)) return [name, server];
    const { headers, identity, oauth, ...rest } = server;
    const shown: McpHttpServer = { ...rest, url: addressFor(sight, server.url) };
    if (headers) {
      const values = Object.entries(headers).map(([header, value]) => [header, hidden(value)] as const);
      shown.headers = Object.fromEntries(values);
    }
    if (identity) shown.identity = { key: hidden(identity.key) };
    if (oauth) {
      shown.oauth = {
        ...oauth,
        ...(oauth.issuer === undefined ? {} : { issuer: addressFor(sight, oauth.issuer) }),
        ...(oauth.clientSecret === undefined ? {} : { clientSecret: hidden(oauth.clientSecret) }),
      };
    }
    return [name, shown];
  });
  return { ...settings, mcpServers: Object.fromEntries(servers) };
}

/** The name of a variable is not secret. */
function hidden(key: string): string {
  return variableName(key) === null ? HIDDEN : key;
}

function isHttp(server: McpServer): server is McpHttpServer {
  return "url" in server;
}

/** An agent's settings in a change: null removes a setting, or a server. */
export interface AgentChange {
  [field: string]: unknown;
  mcpServers?: Record<string, ServerChange | null> | null | undefined;
}

/** The fields of a server that hold secrets; null removes one. */
type ServerChange = Record<string, unknown> & {
  headers?: Record<string, unknown> | null | undefined;
  identity?: Record<string, unknown> | null | undefined;
  oauth?: Record<string, unknown> | null | undefined;
};

/**
 * The stored settings with the change applied: fields that it leaves out stay, and so do secrets left out or sent as
 * HIDDEN.
 */
export function changedAgent(stored: AgentSettings, change: AgentChange): Record<string, unknown> {
  const { mcpServers: servers, ...fields } = change;
  const agent = withoutNulls({ ...stored, ...fields });
  if (servers === undefined) return agent;
  if (servers === null) return withoutNulls({ ...agent, mcpServers: null });
  const changed = Object.entries(servers).map(([name, server]) => {
    const known = stored.mcpServers?.[name];
    return [name, server && withKeptSecrets(server, known && isHttp(known) ? known : null)];
  });
  return { ...agent, mcpServers: withoutNulls({ ...stored.mcpServers, ...Object.fromEntries(changed) }) };
}

function withKeptSecrets(server: ServerChange, stored: McpHttpServer | null): Record<string, unknown> {
  const kept: ServerChange = { ...server };
  for (const name of ["headers", "identity", "oauth"] as const) {
    const [written, before] = [server[name], stored?.[name]];
    if (written === undefined && before) kept[name] = { ...before };
    else if (written) kept[name] = revealed(written, before ?? {});
  }
  return withoutNulls(kept);
}

/** Puts the stored value in place of HIDDEN. If none is stored, the value is no text, and is refused as such. */
function revealed(written: Record<string, unknown>, stored: object): Record<string, unknown> {
  const known = new Map<string, unknown>(Object.entries(stored));
  const fields = Object.entries(written).map(([name, value]) => [
    name,
    value === HIDDEN ? (known.get(name) ?? { missing: HIDDEN }) : value,
  ]);
  return Object.fromEntries(fields);
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== null));
}

/**
 * Webhooks in a change, as a whole: a secret that is left out or sent as HIDDEN is taken from the stored one of the
 * same url, and of no other: a new receiver must not get the secret of an old one.
 */
export function changedWebhooks(
  stored: readonly WebhookField[],
  change: readonly Record<string, unknown>[],
): Record<string, unknown>[] {
  return change.map((one) => {
    const { secret = HIDDEN } = one;
    if (secret !== HIDDEN) return one;
    const known = stored.find(({ url }) => url === one["url"]);
    return known ? { ...one, secret: known.secret } : one;
  });
}

/** The messenger with the change applied: settings left out, or sent as HIDDEN, stay as long as the platform does. */
export function changedMessenger(
  stored: MessengerField | undefined,
  { type = stored?.type, settings = {} }: Record<string, unknown>,
): Record<string, unknown> {
  const before = stored?.type === type ? stored?.settings : {};
  const written = typeof settings === "object" && settings !== null ? settings : {};
  return { type, settings: withoutNulls({ ...before, ...revealed({ ...written }, before ?? {}) }) };
}
