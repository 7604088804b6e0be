import { firstRefused } from "../config/channel-variables.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import type { AgentSettings, Channel, McpServer } from "../domain/channels/channel.ts";
import { variableName, variablesOf } from "../domain/channels/channel-variables.ts";
import { keysStillValid } from "../domain/channels/older-keys.ts";
import { retiredKeysField } from "../domain/channels/retired-keys.ts";
import {
  applyFields,
  changedFields,
  channelFieldsSchema,
  complaint,
  isSame,
  MOST,
  sharedKey,
  splitAgent,
} from "../domain/channels/channel-fields.ts";
import { messageOf } from "../errors.ts";
import { hashKey, newChannelKeys } from "../keys.ts";
import type { ChannelKeys } from "../keys.ts";
import { Secret } from "../secret.ts";
import type { ChannelStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

type Writing = Acting<Pick<ChannelStore, "channels" | "replaceChannel">>;

/** The fields do not make a valid channel; the message says which field, and why. */
export class BadChannel extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadChannel";
  }
}

/** The stored channel with these fields, checked as CHANNELS_FILE is; `nowMs` as for applyFields(). Throws BadChannel. */
export function channelFrom(slug: string, stored: Channel | null, fields: object, nowMs: number): Channel {
  const { judged, agentOf } = judgedAnew({ ...fields, slug }, stored?.agent ?? {});
  const parsed = channelFieldsSchema.safeParse(judged);
  if (!parsed.success) throw new BadChannel(complaint(parsed.error));
  const { secretKey, agent, ...others } = parsed.data;
  const written = { ...others, ...(agent ? { agent: agentOf(agent) } : {}) };
  const servers = Object.keys(written.agent?.mcpServers ?? {}).length;
  if (servers > Math.max(MOST.servers, Object.keys(stored?.agent.mcpServers ?? {}).length))
    throw new BadChannel(`agent.mcpServers: must have at most ${MOST.servers} servers`);
  if (secretKey !== undefined && variableName(secretKey) !== null)
    throw new BadChannel("secretKey must start with sk_");
  const [process] = Object.keys(splitAgent(written.agent ?? {}).processes);
  if (process !== undefined) {
    throw new BadChannel(`MCP server ${process} is a command: those stand in CHANNELS_FILE alone`);
  }
  const hashed = secretKey === undefined ? {} : { secretKeyHash: hashKey(new Secret(secretKey)) };
  try {
    return applyFields(stored, { ...written, ...hashed }, nowMs);
  } catch (error) {
    throw new BadChannel(messageOf(error));
  }
}

/** The fields of a change, with single origins added and removed. Throws BadChannel if one to remove is not allowed. */
export function withOrigins(
  fields: { [name: string]: unknown },
  { slug, allowedOrigins }: Channel,
  { add = [], remove = [] }: { add?: string[] | undefined; remove?: string[] | undefined },
): object {
  if (add.length === 0 && remove.length === 0) return fields;
  const { allowedOrigins: given } = fields;
  const before: unknown[] = Array.isArray(given) ? given : allowedOrigins;
  const unknown = remove.find((origin) => !before.includes(origin));
  if (unknown !== undefined)
    throw new BadChannel(`Cannot remove origin ${unknown}: channel ${slug} does not allow it`);
  const kept = before.filter((origin) => !remove.some((removed) => removed === origin));
  return { ...fields, allowedOrigins: [...new Set([...kept, ...add])] };
}

/**
 * Without the settings and servers of `agent` that are as they are stored: a rule that came after them must not keep
 * everything else of the agent from being changed. `agentOf` puts them back, servers in their order.
 */
function judgedAnew(fields: object, stored: AgentSettings) {
  const agent = "agent" in fields && isMap(fields.agent) ? fields.agent : null;
  if (agent === null) return { judged: fields, agentOf: (parsed: AgentSettings) => parsed };
  const { mcpServers, ...settings } = agent;
  const servers = isMap(mcpServers) ? mcpServers : null;
  const judged = {
    ...unlike(settings, stored),
    ...(servers
      ? { mcpServers: unlike(servers, stored.mcpServers ?? {}) }
      : "mcpServers" in agent
        ? { mcpServers }
        : {}),
  };
  const names = new Set(Object.keys(settings));
  const kept = Object.entries(stored).filter(([name]) => names.has(name));
  return {
    judged: { ...fields, agent: judged },
    agentOf(parsed: AgentSettings): AgentSettings {
      const whole: AgentSettings = { ...Object.fromEntries(kept), ...parsed };
      if (servers === null) return whole;
      const known = new Map(Object.entries({ ...stored.mcpServers, ...parsed.mcpServers }));
      const ordered = Object.keys(servers).flatMap((name): [string, McpServer][] => {
        const server = known.get(name);
        return server ? [[name, server]] : [];
      });
      return { ...whole, mcpServers: Object.fromEntries(ordered) };
    },
  };
}

function unlike(written: Record<string, unknown>, stored: object): Record<string, unknown> {
  const known = new Map<string, unknown>(Object.entries(stored));
  return Object.fromEntries(
    Object.entries(written).filter(([name, value]) => !known.has(name) || !isSame(known.get(name), value)),
  );
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Nothing is written if the channel has changed since it was read, another channel has its publishable key, or it names a
 * variable that it may not name (`refused`: the sentence for whoever wrote it).
 */
export type ChannelWrite =
  | { type: "written" | "changed" }
  | { type: "shared"; by: string }
  | { type: "refused"; why: string };

/** Tries in total; each failed one means that another writer was first. */
const MOST_TRIES = 200;

/**
 * Repeats an attempt that reads the channel and writes it, and returns its first result; null: another writer was
 * first.
 */
export async function untilWritten<T>(slug: string, attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const done = await attempt();
    if (done !== null) return done;
  }
  throw new Error(`Cannot write channel ${slug}: others write it all the time`);
}

/**
 * Writes a channel. `stored`: the record that it was derived from; null: the channel is new. Variables that the record
 * names already are not judged: that would keep everything else of the channel from being changed, and they are judged
 * whenever one is read.
 */
export async function writeChannel(
  acting: Writing,
  channel: Channel,
  stored: Channel | null,
  variables: Pick<ChannelVariables, "fault">,
): Promise<ChannelWrite> {
  const { slug } = channel;
  const before = new Set(variablesOf(stored ?? {}).map(({ name }) => name));
  const named = variablesOf(channel).filter(({ name }) => !before.has(name));
  const refused = firstRefused(variables, slug, named);
  if (refused !== null) {
    const { field, name, fault } = refused;
    const tried = { field, variable: name };
    await note(acting, { action: "channels.refuse-variable", target: slug, slug, detail: tried });
    return { type: "refused", why: `${field} names $${name}, ${fault}` };
  }
  const others = (await acting.store.channels(() => {})).filter((other) => other.slug !== slug);
  const shared = sharedKey([...others, channel]);
  if (shared !== null) return { type: "shared", by: shared.find((other) => other !== slug) ?? slug };
  const fields = stored === null ? [] : changedFields(stored, channel);
  const names = [...new Set(named.map(({ name }) => name))];
  const detail = {
    ...(fields.length === 0 ? {} : { fields }),
    ...(names.length === 0 ? {} : { variables: names }),
  };
  const about = Object.keys(detail).length === 0 ? {} : { detail };
  await note(acting, { action: actionOf(stored, channel, fields), target: slug, slug, ...about });
  return { type: (await acting.store.replaceChannel(channel, stored)) ? "written" : "changed" };
}

/** The action's name on the command line. */
function actionOf(stored: Channel | null, channel: Channel, fields: readonly string[]): string {
  if (stored === null) return "channels.create";
  if (fields.length === 1 && fields[0] === "enabled")
    return channel.enabled ? "channels.enable" : "channels.disable";
  return "channels.update";
}

/**
 * Replaces both keys of a web channel: the old ones end at once, or after so many hours. Null: another writer was
 * first.
 */
export async function rotateKeys(
  acting: Writing,
  stored: Channel,
  overlapHours = 0,
): Promise<{ channel: Channel; keys: ChannelKeys } | null> {
  const { slug } = stored;
  const keys = newChannelKeys();
  const { publishableKey, secretKey } = keys;
  const { olderKeys: _, ...kept } = stored;
  const nowMs = acting.clock.now();
  const before = { publishableKey: stored.publishableKey, secretKeyHash: stored.secretKeyHash };
  const untilMs = nowMs + Math.round(overlapHours * 3_600_000);
  const older = overlapHours > 0 ? [...keysStillValid(stored, nowMs), { ...before, untilMs }] : [];
  const channel: Channel = {
    ...kept,
    publishableKey,
    secretKeyHash: hashKey(secretKey),
    ...(older.length === 0 ? {} : { olderKeys: older }),
    ...retiredKeysField(stored, publishableKey),
  };
  const detail = overlapHours > 0 ? { detail: { overlapHours } } : {};
  await note(acting, { action: "channels.rotate-keys", target: slug, slug, ...detail });
  return (await acting.store.replaceChannel(channel, stored)) ? { channel, keys } : null;
}
