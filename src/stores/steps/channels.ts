import { isDeepStrictEqual } from "node:util";
import type { Channel } from "../../domain/channels/channel.ts";
import { StoreUnavailable } from "../../store.ts";
import type { ChannelStore } from "../../store.ts";
import { channelKind } from "../records/channel-record.ts";
import { slotOf } from "../engine.ts";
import type { Pair } from "../engine.ts";
import { jsonValue } from "../records/json-value.ts";
import { readableChannel, readChannels } from "../read-channels.ts";
import type { StoredChannel } from "../read-channels.ts";
import { tables } from "../tables.ts";
import type { StepsContext } from "./context.ts";
import { fieldIs } from "./field-is.ts";
import { changeCount, tellingFields } from "./notice.ts";

/** Channels, blocked addresses, and the count of their changes. */
export function channelSteps({
  engine,
}: Pick<StepsContext, "engine">): Omit<ChannelStore, "onChange" | "isRestoring"> {
  const { channels, ips } = tables;
  const changeField = tellingFields(engine);

  async function names({ key }: { key: string }, name: string): Promise<string[]> {
    const [pairs] = await engine.read([{ read: "hash", key }], { durable: false, name });
    return pairs.map(([member]) => member).sort();
  }

  async function storedText(slug: string): Promise<string | null> {
    const key = tables.channel.key(slug);
    const [[text = null]] = await engine.read([{ read: "fields", key, fields: ["json"] }], {
      durable: false,
      name: "channels",
    });
    return text;
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

  // The channel is in another slot, and comes first: nobody is told of a channel that is not there yet.
  const listed = (slug: string) => changeField(channels, slug, () => ({ to: "", answer: true }));

  return {
    async channel(slug) {
      const found = await stored(slug);
      return found && channelKind.read(found.value, slug);
    },

    async channels(onUnreadable, onAway) {
      const reached = (slug: string) => (onAway ? storedOrAway(slug, onAway) : stored(slug));
      const all = await Promise.all((await names(channels, "channels")).map(reached));
      return readChannels(
        all.filter((found) => found !== null),
        onUnreadable,
      );
    },

    async putChannel(put) {
      const key = tables.channel.key(put.slug);
      await engine.apply({
        name: "putChannel",
        slot: slotOf(key),
        checks: [],
        writes: [{ write: "set", key, fields: channelFields(put) }],
      });
      await listed(put.slug);
    },

    async replaceChannel(put, before) {
      const { slug } = put;
      const text = await storedText(slug);
      const found = text === null ? null : readableChannel({ slug, value: jsonValue(text) });
      // A repeat of the same call may still have to tell of it.
      if (![before, put].some((expected) => isDeepStrictEqual(found, expected))) return false;
      const key = tables.channel.key(slug);
      const { type } = await engine.apply({
        name: "replaceChannel",
        slot: slotOf(key),
        checks: [fieldIs(key, "json", text)],
        writes: [{ write: "set", key, fields: channelFields(put) }],
      });
      if (type === "failed") return false;
      await listed(slug);
      return true;
    },

    blockedIps: () => names(ips, "blockedIps"),
    // Also told if nothing changes: the call may be the repeat of one whose change was not told.
    blockIp: (address) => changeField(ips, address, (known) => ({ to: "", answer: known === null })),
    unblockIp: (address) => changeField(ips, address, (known) => ({ to: null, answer: known !== null })),

    changeCount: () => changeCount(engine),
  };
}

/** A channel as it is stored. */
export function channelFields(channel: Channel): Pair[] {
  return [
    ["json", JSON.stringify(channelKind.stored(channel))],
    ["enabled", channel.enabled ? "1" : "0"],
    ["mode", channel.accessMode],
  ];
}
