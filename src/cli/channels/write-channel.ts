import type { Command } from "commander";
import type { Channel } from "../../domain/channel.ts";
import { BadChannel, channelFrom, writeChannel } from "../../operators/channels.ts";
import type { Store } from "../../store.ts";
import { asCommandLine } from "../as-command-line.ts";
import { CannotDo } from "../terminal.ts";
import type { FieldOptions } from "./field-options.ts";

/** Checks the options as CHANNELS_FILE is checked, and writes the channel. */
export async function writeOptions(
  store: Store,
  { slug, stored }: { slug: string; stored: Channel | null },
  options: FieldOptions,
  command: Command,
): Promise<Channel> {
  const channel = fromOptions(slug, stored, options, command);
  await mustWrite(store, channel, stored);
  return channel;
}

/** Throws CannotDo where another channel has its publishable key. */
export async function mustWrite(store: Store, channel: Channel, stored: Channel | null): Promise<void> {
  const sharing = await writeChannel(asCommandLine(store), channel, stored);
  if (sharing === null) return;
  throw new CannotDo(`Cannot write channel ${channel.slug}: channel ${sharing} has that publishable key`);
}

function fromOptions(slug: string, stored: Channel | null, options: FieldOptions, command: Command): Channel {
  const agent = {
    ...(options.agent ?? stored?.agent),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    ...(options.model === undefined ? {} : { model: options.model }),
  };
  const { kind, accessMode, origin: allowedOrigins, publishableKey, secretKey } = options;
  try {
    return channelFrom(slug, stored, { agent, kind, accessMode, allowedOrigins, publishableKey, secretKey });
  } catch (error) {
    if (error instanceof BadChannel) return command.error(`error: ${error.message}`);
    throw error;
  }
}
