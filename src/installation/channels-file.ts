import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { systemClock } from "../clock.ts";
import { isSetting } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { closedUrl } from "../domain/public-address.ts";
import { secretFault } from "../webhooks/sign.ts";
import type { Channel, McpProcessServer, McpServer } from "../domain/channels/channel.ts";
import { variableName, variablesOf } from "../domain/channels/channel-variables.ts";
import {
  applyFields,
  changedFields,
  channelFieldsSchema,
  complaint,
  sharedKey,
  splitAgent,
} from "../domain/channels/channel-fields.ts";
import { parseJson } from "./parse-json.ts";
import { messageOf } from "../errors.ts";
import { secretKeyFault } from "../domain/channels/channel-fields.ts";
import type { ChannelFields, WrittenFields } from "../domain/channels/channel-fields.ts";
import { hashKey } from "../keys.ts";
import { Secret } from "../secret.ts";
import { NewerRecord, StoreUnavailable } from "../store.ts";
import type { Store } from "../store.ts";

/**
 * CHANNELS_FILE: the channels of this installation, written into the store at every start (contract, Channels).
 * A field in it overrides the store; a field or a channel that it leaves out stays as it is.
 */
export interface WrittenChannels {
  channels: WrittenFields[];
  /** By slug: MCP servers that this instance starts as processes. They never go to the store. */
  processServers: ReadonlyMap<string, Record<string, McpProcessServer>>;
  /** By slug: all MCP servers that the file names. Their addresses are its owner's choice. */
  namedServers: ReadonlyMap<string, readonly McpServer[]>;
  /** By slug: the variables that the file names for the channel, so that its settings may name them. */
  variables: NamedByChannel;
}

type NamedByChannel = ReadonlyMap<string, ReadonlySet<string>>;

const fileSchema = z.strictObject(
  { channels: z.array(channelFieldsSchema, 'must be a list: { "channels": [ … ] }') },
  { error: ({ code }) => (code === "invalid_type" ? 'must be { "channels": [ … ] }' : undefined) },
);

/** Reads and checks the file. Throws ConfigError with one line that names the fault and its place. */
export async function readChannelsFile(
  path: string,
  variable: (name: string) => Secret | null,
): Promise<WrittenChannels> {
  return readAs(path, (text) => {
    const written = parseChannels(text, variable);
    return { ...written, channels: written.channels.map((fields) => placedBeside(path, fields)) };
  });
}

/** Documents on the disk are named relative to the file. */
function placedBeside(path: string, fields: WrittenFields): WrittenFields {
  const { knowledge } = fields;
  if (!knowledge) return fields;
  const from = dirname(resolve(path));
  const sources = knowledge.sources.map(({ folder, file, ...source }) => ({
    ...source,
    ...(folder === undefined ? {} : { folder: resolve(from, folder) }),
    ...(file === undefined ? {} : { file: resolve(from, file) }),
  }));
  return { ...fields, knowledge: { ...knowledge, sources } };
}

/** The variables that the file names, without a value of any: for commands, whose environment may lack them. */
export async function readNamedVariables(path: string): Promise<NamedByChannel> {
  return readAs(path, (text) => namedBy(parseFields(text)));
}

async function readAs<T>(path: string, parse: (text: string) => T): Promise<T> {
  try {
    return parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new ConfigError(`Cannot read CHANNELS_FILE ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Parses the text of a CHANNELS_FILE. Throws an Error whose message is one line. */
export function parseChannels(text: string, variable: (name: string) => Secret | null): WrittenChannels {
  const written = parseFields(text);
  const slugs = new Set<string>();
  const processServers = new Map<string, Record<string, McpProcessServer>>();
  const namedServers = new Map<string, readonly McpServer[]>();
  const channels = written.map((fields) => {
    if (slugs.has(fields.slug)) throw new Error(`channel ${fields.slug} stands in it twice`);
    slugs.add(fields.slug);
    if (fields.agent !== undefined) {
      processServers.set(fields.slug, splitAgent(fields.agent).processes);
      namedServers.set(fields.slug, Object.values(fields.agent.mcpServers ?? {}));
    }
    return withHashedKey(fields, variable);
  });
  return { channels, processServers, namedServers, variables: namedBy(written) };
}

function parseFields(text: string): ChannelFields[] {
  const parsed = fileSchema.safeParse(parseJson(text));
  if (!parsed.success) throw new Error(complaint(parsed.error, fileSchema));
  for (const fields of parsed.data.channels) {
    const own = variablesOf(fields).find(({ name }) => isSetting(name));
    if (own === undefined) continue;
    const { field, name } = own;
    throw new Error(`channel ${fields.slug}: ${field} names $${name}, a setting of the service`);
  }
  return parsed.data.channels;
}

/** Not the name of the secret key: the channel has it only as a hash. */
function namedBy(channels: readonly ChannelFields[]): NamedByChannel {
  return new Map(
    channels.map(({ slug, secretKey: _, ...fields }) => [
      slug,
      new Set(variablesOf(fields).map(({ name }) => name)),
    ]),
  );
}

/** Gets a channel whose part of the store is away: it was not written. */
export type OnAway = (slug: string) => void;

/** Then the file is written over whatever is there: a channel that is on no list is never as it was read. */
const MOST_TRIES = 10;

/**
 * Writes the changed channels into the store, all or none. A record of a newer version is left as it is, a damaged one is
 * replaced. Returns one line for each channel whose stored fields were overridden. With `onAway` those whose part of the store is
 * away are left out; without it that is StoreUnavailable.
 */
export async function upsertChannels(
  store: Store,
  written: readonly WrittenFields[],
  { tries = MOST_TRIES, onAway }: { tries?: number; onAway?: OnAway } = {},
): Promise<string[]> {
  const left = new Set<string>();
  const isWritten = new Set(written.map(({ slug }) => slug));
  const leave = (slug: string) => {
    left.add(slug);
    if (isWritten.has(slug)) onAway?.(slug);
  };
  const readable = await store.channels(
    ({ slug, error }) => {
      if (error instanceof NewerRecord) left.add(slug);
    },
    onAway ? leave : undefined,
  );
  const stored = new Map(readable.map((channel) => [channel.slug, channel]));
  const ours = written.filter(({ slug }) => !left.has(slug));
  const next = ours.map((fields) =>
    orConfigError(() => applyFields(stored.get(fields.slug) ?? null, fields, systemClock.now())),
  );

  const all = new Map(stored);
  for (const channel of next) all.set(channel.slug, channel);
  const shared = sharedKey([...all.values()]);
  if (shared !== null) {
    throw new ConfigError(
      `Cannot use CHANNELS_FILE: channels ${shared.join(" and ")} share a publishableKey, or one of them had it before`,
    );
  }

  const overridden: string[] = [];
  for (const channel of next) {
    const before = stored.get(channel.slug);
    const changed = before === undefined ? [] : changedFields(before, channel);
    if (before === undefined || changed.length > 0) {
      try {
        if (tries === 0) await store.putChannel(channel);
        else if (!(await store.replaceChannel(channel, before ?? null))) {
          // Somebody else wrote it since it was read: what the file leaves out of it stays.
          const again = { tries: tries - 1, ...(onAway ? { onAway } : {}) };
          return [...overridden, ...(await upsertChannels(store, written, again))];
        }
      } catch (error) {
        if (!onAway || !(error instanceof StoreUnavailable)) throw error;
        onAway(channel.slug);
        continue;
      }
    }
    if (changed.length > 0) {
      overridden.push(
        `CHANNELS_FILE overrides ${changed.join(", ")} of channel ${channel.slug} as the store had it`,
      );
    }
  }
  return overridden;
}

/**
 * Checks that the file's webhooks can be delivered: each needs a public address, unless WEBHOOKS_PRIVATE allows others, and
 * the variable of its secret. Throws ConfigError.
 */
export function mustTell(
  { channels }: WrittenChannels,
  { webhooksPrivate, variable }: { webhooksPrivate: boolean; variable: (name: string) => Secret | null },
): void {
  for (const { slug, webhooks = [] } of channels) {
    const url = webhooksPrivate ? null : closedUrl(webhooks);
    if (url !== null) {
      throw new ConfigError(
        `Cannot use CHANNELS_FILE: webhook ${url} of channel ${slug} has no public address, and WEBHOOKS_PRIVATE is off`,
      );
    }
    for (const { secret } of webhooks) {
      const name = variableName(secret);
      if (name === null) continue;
      const value = variable(name);
      const fault = value === null ? "is unset" : secretFault(value.reveal());
      if (fault === null) continue;
      throw new ConfigError(
        `Cannot use CHANNELS_FILE: a webhook of channel ${slug} takes its secret from ${name}, which ${fault}`,
      );
    }
  }
}

function withHashedKey(fields: ChannelFields, variable: (name: string) => Secret | null): WrittenFields {
  const { secretKey: text, ...rest } = fields;
  if (text === undefined) return rest;
  const named = variableName(text);
  return { ...rest, secretKeyHash: hashKey(named === null ? new Secret(text) : revealed(named)) };

  function revealed(name: string): Secret {
    const value = variable(name);
    if (value === null)
      throw new Error(`channel ${fields.slug} takes its secretKey from ${name}, which is unset`);
    const fault = secretKeyFault(value.reveal());
    if (fault !== null) {
      throw new Error(`channel ${fields.slug} takes its secretKey from ${name}, which ${fault}`);
    }
    return value;
  }
}

function orConfigError(make: () => Channel): Channel {
  try {
    return make();
  } catch (error) {
    throw new ConfigError(`Cannot use CHANNELS_FILE: ${messageOf(error)}`, { cause: error });
  }
}
