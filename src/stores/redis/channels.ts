import { isDeepStrictEqual } from "node:util";
import { StoreUnavailable } from "../../store.ts";
import type { ChannelStore } from "../../store/channels.ts";
import type { RedisCommands } from "./commands.ts";
import { channelKey, globalKeys } from "./keys.ts";
import { readableChannel, readChannels } from "../read-channels.ts";
import type { StoredChannel } from "../read-channels.ts";
import { channelKind } from "../channel-record.ts";
import { flag, jsonValue, listOf, numberOf, textOf, textOrNull } from "./records.ts";
import type { ArgsOf } from "./signatures.ts";

/** What every instance caches: channels and blocked addresses, and the count of their changes. */
export type RedisChannels = Omit<ChannelStore, "onChange" | "isRestoring">;

export function redisChannels(redis: RedisCommands): RedisChannels {
  const { channels, ips, changes } = globalKeys;

  async function members(set: string): Promise<string[]> {
    return listOf(await redis.peek(set, "SMEMBERS", set))
      .map(textOf)
      .sort();
  }

  const changeSet = (set: string, args: ArgsOf<"change_set">) =>
    redis.call("change_set", { set, changes }, args);

  async function storedText(slug: string): Promise<string | null> {
    const key = channelKey(slug);
    return textOrNull(await redis.peek(key, "HGET", key, "json"));
  }

  async function stored(slug: string): Promise<StoredChannel | null> {
    const text = await storedText(slug);
    return text === null ? null : { slug, value: jsonValue(text) };
  }

  /** Null: there is none, or its shard is away, which `onAway` gets. */
  async function storedOrAway(slug: string, onAway: (slug: string) => void): Promise<StoredChannel | null> {
    try {
      return await stored(slug);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      onAway(slug);
      return null;
    }
  }

  const tellOf = (slug: string) => changeSet(channels, { command: "SADD", member: slug, always: "1" });

  return {
    async channel(slug) {
      const found = await stored(slug);
      return found && channelKind.read(found.value, slug);
    },

    async channels(onUnreadable, onAway) {
      const reached = (slug: string) => (onAway ? storedOrAway(slug, onAway) : stored(slug));
      const all = await Promise.all((await members(channels)).map(reached));
      return readChannels(
        all.filter((found) => found !== null),
        onUnreadable,
      );
    },

    // Two slots, so two steps: the channel first, so that nobody is notified of a channel that is not there yet.
    async putChannel(put) {
      const key = channelKey(put.slug);
      const state = ["enabled", flag(put.enabled), "mode", put.accessMode];
      await redis.write(key, "HSET", key, "json", JSON.stringify(channelKind.stored(put)), ...state);
      await tellOf(put.slug);
    },

    async replaceChannel(put, before) {
      const { slug } = put;
      const text = await storedText(slug);
      const found = text === null ? null : readableChannel({ slug, value: jsonValue(text) });
      if (!isDeepStrictEqual(found, before)) return false;
      const state = { enabled: flag(put.enabled), mode: put.accessMode };
      const args = { before: text ?? "", record: JSON.stringify(channelKind.stored(put)), ...state };
      if ((await redis.call("replace_channel", { channel: channelKey(slug) }, args)) !== 1) return false;
      await tellOf(slug);
      return true;
    },

    blockedIps: () => members(ips),

    async blockIp(address) {
      return (await changeSet(ips, { command: "SADD", member: address, always: "0" })) === 1;
    },

    async unblockIp(address) {
      return (await changeSet(ips, { command: "SREM", member: address, always: "0" })) === 1;
    },

    async changeCount() {
      return numberOf((await redis.peek(changes, "GET", changes)) ?? 0);
    },
  };
}
