// For src/admission/directory.ts, src/admission/channel-index.ts, src/admission/unreadable-channels.ts,
// src/admission/one-at-a-time.ts
import { expect, onTestFinished, test, vi } from "vitest";
import { createDirectory } from "../../src/admission/directory.ts";
import { systemClock } from "../../src/clock.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { NewerRecord } from "../../src/store.ts";
import type { Store, UnreadableChannel } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { sampleChannel } from "../stores/samples.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

async function openDirectory(changesOf: (store: Store) => Partial<Store> = () => ({})) {
  const dataDir = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  const elsewhere = await openEmbeddedStore({ dataDir, clock: systemClock });
  await store.putChannel(sampleChannel());
  const warnings: string[] = [];
  const directory = createDirectory({
    store: { ...store, ...changesOf(store) },
    log: { warn: (_fields, text) => void warnings.push(text) },
  });
  await directory.start();
  onTestFinished(async () => {
    directory.stop();
    await Promise.all([store.close(), elsewhere.close()]);
  });
  return { store, elsewhere, directory, warnings };
}

test("it knows channels, keys and origins from its start on", async () => {
  const { directory } = await openDirectory();
  expect(directory.channel("shop")?.slug).toBe("shop");
  expect(directory.channel("none")).toBeNull();
  expect(directory.byPublishableKey("pk_shop")?.slug).toBe("shop");
  expect(directory.byPublishableKey("")).toBeNull();
  expect(directory.isKnown({ type: "origin", origin: "https://shop.example" })).toBe(true);
  expect(directory.isKnown({ type: "host", host: "shop.example" })).toBe(true);
});

test("the origin null is known to nobody, even where a channel lists it", async () => {
  const { directory, store } = await openDirectory();
  await store.putChannel(sampleChannel({ allowedOrigins: ["null"] }));
  await directory.renew();
  expect(directory.isKnown({ type: "origin", origin: "null" })).toBe(false);
});

test("a change of this process is in force once it was renewed", async () => {
  const { directory, store } = await openDirectory();
  await store.putChannel(sampleChannel({ publishableKey: "pk_new" }));
  await store.blockIp("192.0.2.1");
  await directory.renew();
  expect([directory.byPublishableKey("pk_shop"), directory.byPublishableKey("pk_new")?.slug]).toEqual([
    null,
    "shop",
  ]);
  expect(directory.isBlocked("192.0.2.1")).toBe(true);
  await store.unblockIp("192.0.2.1");
  await directory.renew();
  expect(directory.isBlocked("192.0.2.1")).toBe(false);
});

test.each<{ how: string; withinMs: number; changes: Partial<Store> }>([
  { how: "by the store's notice", withinMs: 1_000, changes: {} },
  { how: "by looking, where every notice is lost", withinMs: 5_000, changes: { onChange: () => () => {} } },
])("a change of another process is in force $how within $withinMs ms", async ({ withinMs, changes }) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { directory, elsewhere } = await openDirectory(() => changes);
  await elsewhere.blockIp("192.0.2.2");
  vi.advanceTimersByTime(withinMs);
  await expect.poll(() => directory.isBlocked("192.0.2.2")).toBe(true);
});

test("a change that comes while it reads is found by the next look", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let whileReading = () => Promise.resolve();
  const { directory, store } = await openDirectory((read) => ({
    onChange: () => () => {},
    blockedIps: async () => {
      const addresses = await read.blockedIps();
      await whileReading();
      return addresses;
    },
  }));
  whileReading = async () => {
    whileReading = () => Promise.resolve();
    await store.blockIp("192.0.2.3");
  };
  await directory.renew();
  expect(directory.isBlocked("192.0.2.3")).toBe(false);
  vi.advanceTimersByTime(5_000);
  await expect.poll(() => directory.isBlocked("192.0.2.3")).toBe(true);
});

test("it looks one time after the other, however long one takes, and not once it is stopped", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let looks = 0;
  let answer = () => {};
  const changeCount = () =>
    looks++ === 0 ? Promise.resolve(0) : new Promise<number>((resolve) => (answer = () => resolve(0)));
  let unsubscribed = 0;
  const onChange = () => () => void unsubscribed++;
  const { directory } = await openDirectory(() => ({ onChange, changeCount }));
  vi.advanceTimersByTime(50_000);
  expect(looks).toBe(2);
  answer();
  await new Promise(setImmediate);
  vi.advanceTimersByTime(5_000);
  expect(looks).toBe(3);
  answer();
  await new Promise(setImmediate);
  directory.stop();
  vi.advanceTimersByTime(50_000);
  expect([looks, unsubscribed]).toEqual([3, 1]);
});

test("a channel that becomes unreadable is refused with 503, and stays known by its origins, its key, and to its runs", async () => {
  let unreadable: UnreadableChannel | null = null;
  const { directory, store, warnings } = await openDirectory((real) => ({
    channels: async (onUnreadable) => {
      if (!unreadable) return real.channels();
      onUnreadable?.(unreadable);
      return [];
    },
  }));
  const error = new NewerRecord("channel", "shop", 99);
  unreadable = { slug: "shop", error, publishableKey: null, allowedOrigins: [] };
  await directory.renew();
  await directory.renew();
  expect(() => directory.channel("shop")).toThrow(new Refusal("unavailable", "The channel cannot be read"));
  expect(() => directory.byPublishableKey("pk_shop")).toThrow(Refusal);
  expect(directory.isKnown({ type: "origin", origin: "https://shop.example" })).toBe(true);
  expect(directory.faultOf("shop")).toBe(error);
  expect(directory.lastRead("shop")).toEqual(sampleChannel());
  expect(warnings).toEqual(["left a channel alone: its requests are answered 503"]);

  unreadable = null;
  await store.putChannel(sampleChannel({ enabled: false }));
  await directory.renew();
  expect(directory.channel("shop")?.enabled).toBe(false);
  expect(directory.lastRead("shop")?.enabled).toBe(false);
  expect(directory.faultOf("shop")).toBeNull();
});
