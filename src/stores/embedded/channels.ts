import { isDeepStrictEqual } from "node:util";
import type { Channel } from "../../domain/channel.ts";
import type { ChannelStore } from "../../store/channels.ts";
import { readableChannel, readChannels } from "../read-channels.ts";
import { channelKind } from "../channel-record.ts";
import { readNumber, readText } from "../records.ts";
import { keyPart } from "./db.ts";
import type { EmbeddedDb, Key } from "./db.ts";

/** How often the count of changes is read: another process cannot call this one. */
const CHANGE_POLL_MS = 250;

const CHANGES: Key = ["changes"];
const channelKey = (slug: string): Key => ["c", keyPart(slug)];
const ipKey = (address: string): Key => ["ip", keyPart(address)];

/** The stored channel; undefined if there is none. Within a read or a change. */
export function channelOf(db: EmbeddedDb, slug: string): Channel | undefined {
  return db.get(channelKey(slug), channelKind.read);
}

/** Within a change: counts a change of channels, addresses, operators or users' flags, which every process notices. */
export function countChange(db: EmbeddedDb): void {
  db.put(CHANGES, (db.get(CHANGES, readNumber) ?? 0) + 1);
}

/** Within a change. */
export function removeChannel(db: EmbeddedDb, slug: string): void {
  db.remove(channelKey(slug));
  countChange(db);
}

export function embeddedChannels(db: EmbeddedDb): Omit<ChannelStore, "isRestoring"> {
  const countOf = () => db.get(CHANGES, readNumber) ?? 0;
  const countUp = () => countChange(db);
  const changeCount = () => db.read("count the changes", countOf);

  return {
    channels: (onUnreadable) =>
      db.read("list channels", () => {
        const stored = [...db.range(["c"], (value) => value)];
        return readChannels(
          stored.map(({ key, value }) => ({ slug: String(key[1]), value })),
          onUnreadable,
        );
      }),

    channel: (slug) => db.read("read a channel", () => channelOf(db, slug) ?? null),

    putChannel: (channel) =>
      db.change(`save channel ${channel.slug}`, () => {
        db.put(channelKey(channel.slug), channelKind.stored(channel));
        countUp();
      }),

    replaceChannel: (channel, before) =>
      db.change(`save channel ${channel.slug}`, () => {
        const { slug } = channel;
        const value = db.get(channelKey(slug), (stored) => stored);
        const found = value === undefined ? null : readableChannel({ slug, value });
        if (!isDeepStrictEqual(found, before)) return false;
        db.put(channelKey(slug), channelKind.stored(channel));
        countUp();
        return true;
      }),

    blockedIps: () =>
      db.read("list blocked addresses", () => [...db.range(["ip"], readText)].map(({ value }) => value)),

    blockIp: (address) =>
      db.change("block an address", () => {
        if (db.has(ipKey(address))) return false;
        db.put(ipKey(address), address);
        countUp();
        return true;
      }),

    unblockIp: (address) =>
      db.change("unblock an address", () => {
        if (!db.has(ipKey(address))) return false;
        db.remove(ipKey(address));
        countUp();
        return true;
      }),

    changeCount,

    onChange(callback) {
      let seen: number | undefined;
      const look = () => {
        changeCount().then(
          (count) => {
            if (seen !== undefined && seen !== count) callback();
            seen = count;
          },
          // Closed: no caller needs it any more.
          () => clearInterval(timer),
        );
      };
      const timer = setInterval(look, CHANGE_POLL_MS);
      timer.unref();
      look();
      return () => clearInterval(timer);
    },
  };
}
