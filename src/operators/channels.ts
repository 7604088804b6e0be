import type { Channel } from "../domain/channel.ts";
import { keysStillValid } from "../domain/older-keys.ts";
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

type Writing = Acting<Pick<ChannelStore, "channels" | "replaceChannel">>;

/** The fields do not make a valid channel; the message says which field, and why. */
export class BadChannel extends Error {
  constructor(message: string) {
    super(message);
    this.name = "BadChannel";
  }
}

/** The stored channel with these fields, checked as CHANNELS_FILE is. Throws BadChannel. */
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

/** Nothing is written if the channel has changed since it was read, or another channel has its publishable key. */
export type ChannelWrite = { type: "written" | "changed" } | { type: "shared"; by: string };

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

/** Writes a channel. `stored`: the record that it was derived from; null: the channel is new. */
export async function writeChannel(
  acting: Writing,
  channel: Channel,
  stored: Channel | null,
): Promise<ChannelWrite> {
  const { slug } = channel;
  const others = (await acting.store.channels(() => {})).filter((other) => other.slug !== slug);
  const shared = sharedKey([...others, channel]);
  if (shared !== null) return { type: "shared", by: shared.find((other) => other !== slug) ?? slug };
  const fields = stored === null ? [] : changedFields(stored, channel);
  const detail = fields.length > 0 ? { detail: { fields } } : {};
  await note(acting, { action: actionOf(stored, channel, fields), target: slug, slug, ...detail });
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
  };
  const detail = overlapHours > 0 ? { detail: { overlapHours } } : {};
  await note(acting, { action: "channels.rotate-keys", target: slug, slug, ...detail });
  return (await acting.store.replaceChannel(channel, stored)) ? { channel, keys } : null;
}
