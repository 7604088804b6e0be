import type { Command } from "commander";
import type { Channel } from "../../domain/channel.ts";
import { applyFields, channelFieldsSchema, complaint, sharedKey } from "../../domain/channel-fields.ts";
import { messageOf } from "../../errors.ts";
import { hashKey } from "../../keys.ts";
import { Secret } from "../../secret.ts";
import type { Store } from "../../store.ts";
import { CannotDo } from "../terminal.ts";
import type { FieldOptions } from "./field-options.ts";

/** Checks the options as CHANNELS_FILE is checked, and writes the channel. */
export async function writeChannel(
  store: Store,
  { slug, stored }: { slug: string; stored: Channel | null },
  options: FieldOptions,
  command: Command,
): Promise<Channel> {
  const channel = channelFrom(slug, stored, options, command);
  const others = (await store.channels(() => {})).filter((other) => other.slug !== slug);
  const shared = sharedKey([...others, channel]);
  if (shared !== null) {
    throw new CannotDo(`Cannot write channel ${slug}: channel ${shared[0]} has that publishable key`);
  }
  await store.putChannel(channel);
  return channel;
}

function channelFrom(slug: string, stored: Channel | null, options: FieldOptions, command: Command): Channel {
  const agent = {
    ...(options.agent ?? stored?.agent),
    ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
    ...(options.model === undefined ? {} : { model: options.model }),
  };
  const parsed = channelFieldsSchema.safeParse({
    slug,
    agent,
    kind: options.kind,
    accessMode: options.accessMode,
    allowedOrigins: options.origin,
    publishableKey: options.publishableKey,
    secretKey: options.secretKey,
  });
  if (!parsed.success) return command.error(`error: ${complaint(parsed.error)}`);
  const { secretKey, ...fields } = parsed.data;
  if (secretKey?.startsWith("$")) command.error("error: secretKey must start with sk_");
  const hashed = secretKey === undefined ? {} : { secretKeyHash: hashKey(new Secret(secretKey)) };
  try {
    return applyFields(stored, { ...fields, ...hashed });
  } catch (error) {
    return command.error(`error: ${messageOf(error)}`);
  }
}
