import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { createChannelVariables } from "../../config/channel-variables.ts";
import type { Channel, RetentionField } from "../../domain/channel.ts";
import { variablesOf } from "../../domain/channel-variables.ts";
import { closedMcpAddress } from "../../domain/mcp-addresses.ts";
import { closedUrl } from "../../domain/public-address.ts";
import { changedWebhooks } from "../../operators/channel-secrets.ts";
import { BadChannel, channelFrom, writeChannel } from "../../operators/channels.ts";
import type { Store } from "../../store.ts";
import { asCommandLine } from "../as-command-line.ts";
import { commandVariables } from "../channel-variables.ts";
import { CannotDo } from "../terminal.ts";
import type { Terminal } from "../terminal.ts";
import type { FieldOptions } from "./field-options.ts";

export interface Writing {
  store: Store;
  terminal: Terminal;
  config: Pick<Config, "webhooksPrivate" | "mcpPrivate" | "channelsFile">;
}

/** Checks the options by the same rules as CHANNELS_FILE, and writes the channel. Null: the stored channel has changed since it was read. */
export async function writeOptions(
  { store, terminal, config }: Writing,
  { slug, stored }: { slug: string; stored: Channel | null },
  options: FieldOptions,
  command: Command,
): Promise<Channel | null> {
  const channel = fromOptions(slug, stored, options, command);
  const closed = config.webhooksPrivate || !options.webhooks ? null : closedUrl(channel.webhooks ?? []);
  if (closed !== null) {
    throw new CannotDo(
      `Cannot write channel ${slug}: webhook ${closed} has no public address, and WEBHOOKS_PRIVATE is off`,
    );
  }
  const closedServer = config.mcpPrivate ? null : closedMcpAddress(channel.agent, stored?.agent);
  if (closedServer !== null) {
    throw new CannotDo(
      `Cannot write channel ${slug}: MCP server ${closedServer} has no public address, and MCP_PRIVATE is off`,
    );
  }
  return (await mayWrite({ store, terminal, config }, channel, stored)) ? channel : null;
}

/**
 * False: it has changed since it was read. Throws CannotDo if another channel has the same publishable key, or it names a
 * variable that it may not name.
 */
export async function mayWrite(
  { store, terminal, config }: Writing,
  channel: Channel,
  stored: Channel | null,
): Promise<boolean> {
  // CHANNELS_FILE is read for a channel that names variables alone: other changes need no file.
  const variables =
    variablesOf(channel).length === 0 ? createChannelVariables() : await commandVariables(terminal, config);
  const write = await writeChannel(asCommandLine(store), channel, stored, variables);
  if (write.type === "refused") throw new CannotDo(`Cannot write channel ${channel.slug}: ${write.why}`);
  if (write.type !== "shared") return write.type === "written";
  throw new CannotDo(
    `Cannot write channel ${channel.slug}: channel ${write.by} has or had that publishable key`,
  );
}

/** undefined: unchanged. */
function originsFrom(slug: string, stored: Channel | null, options: FieldOptions): string[] | undefined {
  const { origin, addOrigin = [], removeOrigin = [] } = options;
  if (addOrigin.length === 0 && removeOrigin.length === 0) return origin;
  const before = origin ?? stored?.allowedOrigins ?? [];
  const unknown = removeOrigin.find((removed) => !before.includes(removed));
  if (unknown !== undefined) {
    throw new CannotDo(`Cannot remove origin ${unknown}: channel ${slug} does not allow it`);
  }
  return [...new Set([...before.filter((one) => !removeOrigin.includes(one)), ...addOrigin])];
}

/** undefined: unchanged. */
function retentionFrom(stored: Channel | null, options: FieldOptions): RetentionField | undefined {
  const { threadsDays, anonymousDays } = options;
  if (threadsDays === undefined && anonymousDays === undefined) return undefined;
  const days = (written: number | "never" | undefined, before: number | undefined) =>
    written === "never" ? undefined : (written ?? before);
  const threads = days(threadsDays, stored?.retention?.threadsDays);
  const anonymous = days(anonymousDays, stored?.retention?.anonymousDays);
  return {
    ...(threads === undefined ? {} : { threadsDays: threads }),
    ...(anonymous === undefined ? {} : { anonymousDays: anonymous }),
  };
}

function fromOptions(slug: string, stored: Channel | null, options: FieldOptions, command: Command): Channel {
  const agent = {
    ...(options.agent ?? stored?.agent),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    ...(options.model === undefined ? {} : { model: options.model }),
  };
  const { kind, accessMode, publishableKey, secretKey } = options;
  const allowedOrigins = originsFrom(slug, stored, options);
  const told = options.webhooks && { webhooks: changedWebhooks(stored?.webhooks ?? [], options.webhooks) };
  const retention = retentionFrom(stored, options);
  try {
    return channelFrom(
      slug,
      stored,
      {
        agent,
        kind,
        accessMode,
        allowedOrigins,
        publishableKey,
        secretKey,
        retention,
        ...told,
      },
      systemClock.now(),
    );
  } catch (error) {
    if (error instanceof BadChannel) return command.error(`error: ${error.message}`);
    throw error;
  }
}
