import type { Command } from "commander";
import type { Channel } from "../../domain/channel.ts";
import { applyFields, channelFieldsSchema, complaint, sharedKey } from "../../domain/channel-fields.ts";
import { messageOf } from "../../errors.ts";
import { hashKey } from "../../installation/channel-keys.ts";
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

/** undefined: they stay as they are. */
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
    allowedOrigins: originsFrom(slug, stored, options),
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
