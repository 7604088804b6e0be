// For src/start/keep-channels.ts
import { expect, test } from "vitest";
import type { Channel } from "../../src/domain/channels/channel.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { keepChannels } from "../../src/start/keep-channels.ts";
import { NewerRecord, StoreUnavailable, UnreadableRecord } from "../../src/store.ts";
import { sampleChannel } from "../stores/samples.ts";

/** A store that loses channels, and a directory of what it has when that is renewed. */
function keepOver(slugs: string[]) {
  const stored = new Set(slugs);
  const played = {
    stored,
    isRestoring: false,
    /** Records that no list has any more. */
    unlisted: new Map<string, Channel | Error>(),
    /** So many calls of the store are not answered from now on. */
    away: 0,
    renewals: 0,
    written: [] as string[][],
    tellChange: () => {},
    tellReconnect: () => {},
    pauses: [] as (() => void)[],
  };
  let listed = new Set<string>();
  const stop = keepChannels({
    store: {
      async channel(slug) {
        const found = played.unlisted.get(slug) ?? null;
        if (found instanceof Error) throw found;
        return found;
      },
      async putChannel({ slug }) {
        stored.add(slug);
      },
      isRestoring: async () => played.isRestoring,
      onChange(callback) {
        played.tellChange = callback;
        return () => (played.tellChange = () => {});
      },
      onReconnect(callback) {
        played.tellReconnect = callback;
        return () => (played.tellReconnect = () => {});
      },
    },
    directory: {
      async renew() {
        played.renewals++;
        if (played.away-- > 0) throw new StoreUnavailable("read");
        listed = new Set(stored);
      },
      channel(slug) {
        if (slug === "damaged") throw new Refusal("unavailable", "The channel cannot be read");
        return listed.has(slug) ? sampleChannel({ slug }) : null;
      },
    },
    slugs,
    async write(lost) {
      played.written.push([...lost]);
      for (const slug of lost) stored.add(slug);
    },
    timers: {
      after(_ms, run) {
        played.pauses.push(run);
        return () => {};
      },
    },
    log: { warn: () => {} },
  });
  return { ...played, played, stop };
}

test("channels that the store has lost are written again, and those alone", async () => {
  const { played, stored } = keepOver(["cli", "shop", "damaged"]);
  stored.delete("shop");
  played.tellReconnect();
  await expect.poll(() => played.renewals).toBe(2);
  expect(played.written).toEqual([["shop"]]);

  stored.clear();
  played.tellChange();
  await expect.poll(() => played.renewals).toBe(4);
  expect(played.written[1]).toEqual(["cli", "shop"]);
});

test("where the list alone is lost, what the records say counts, and what a newer version wrote is left alone", async () => {
  const { played, stored } = keepOver(["cli", "shop", "newer", "torn"]);
  stored.clear();
  played.unlisted.set("cli", sampleChannel({ slug: "cli" }));
  played.unlisted.set("newer", new NewerRecord("channel", "newer", 9));
  played.unlisted.set("torn", new UnreadableRecord("channel", "torn", "its slug does not fit"));
  played.tellReconnect();
  await expect.poll(() => played.renewals).toBe(2);
  expect(played.written).toEqual([["shop", "torn"]]);
  expect([...stored]).toEqual(["cli", "shop", "torn"]);
});

test("a store that does not answer yet is asked again", async () => {
  const { played, stored } = keepOver(["cli"]);
  stored.clear();
  played.away = 2;
  played.tellReconnect();
  for (const nth of [1, 2]) {
    await expect.poll(() => played.pauses.length).toBe(nth);
    expect(played.written).toEqual([]);
    played.pauses[nth - 1]?.();
  }
  await expect.poll(() => played.written).toEqual([["cli"]]);
});

test("during a restore channels are away, and stay away", async () => {
  const { played, stored } = keepOver(["cli"]);
  stored.clear();
  played.isRestoring = true;
  played.tellChange();
  await expect.poll(() => played.renewals).toBe(1);
  played.isRestoring = false;
  stored.add("cli");
  played.tellChange();
  await expect.poll(() => played.renewals).toBe(2);
  expect(played.written).toEqual([]);
});

test("nothing is written after the stop", async () => {
  const { played, stored, stop } = keepOver(["cli"]);
  stored.clear();
  played.away = 1;
  played.tellReconnect();
  await expect.poll(() => played.pauses.length).toBe(1);
  stop();
  played.pauses[0]?.();
  played.tellReconnect();
  played.tellChange();
  await new Promise((resolve) => setImmediate(resolve));
  expect(played.written).toEqual([]);
});
