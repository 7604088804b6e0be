import type { Command } from "commander";
import type { Config } from "../../config.ts";
import type { Channel, RetentionField } from "../../domain/channel.ts";
import { closedMcpAddress } from "../../domain/mcp-addresses.ts";
import { closedUrl } from "../../domain/public-address.ts";
import { changedWebhooks } from "../../operators/channel-secrets.ts";
import { BadChannel, channelFrom, writeChannel } from "../../operators/channels.ts";
import type { Store } from "../../store.ts";
import { asCommandLine } from "../as-command-line.ts";
import { CannotDo } from "../terminal.ts";
import type { FieldOptions } from "./field-options.ts";

/** Which addresses may be private. */
type AddressRules = Pick<Config, "webhooksPrivate" | "mcpPrivate">;

/** Checks the options by the same rules as CHANNELS_FILE, and writes the channel. Null: the stored channel has changed since it was read. */
export async function writeOptions(
  store: Store,
  { slug, stored, config }: { slug: string; stored: Channel | null; config: AddressRules },
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
  return (await mayWrite(store, channel, stored)) ? channel : null;
}

/** False: it has changed since it was read. Throws CannotDo if another channel has the same publishable key. */
export async function mayWrite(store: Store, channel: Channel, stored: Channel | null): Promise<boolean> {
  const write = await writeChannel(asCommandLine(store), channel, stored);
  if (write.type !== "shared") return write.type === "written";
  throw new CannotDo(`Cannot write channel ${channel.slug}: channel ${write.by} has that publishable key`);
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
    return channelFrom(slug, stored, {
      agent,
      kind,
      accessMode,
      allowedOrigins,
      publishableKey,
      secretKey,
      retention,
      ...told,
    });
  } catch (error) {
    if (error instanceof BadChannel) return command.error(`error: ${error.message}`);
    throw error;
  }
}
