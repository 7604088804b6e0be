import { describe, expect, it, vi } from "vitest";
import type { Bench } from "./contract.ts";
import { sampleChannel } from "./samples.ts";

export function channelPromises(bench: Bench): void {
  describe("channels and addresses", () => {
    it("putChannel() keeps the whole channel, and replaces it whole", async () => {
      const { store } = bench.it;
      expect(await store.channel("shop")).toBeNull();
      await store.putChannel(sampleChannel());
      expect(await store.channel("shop")).toEqual(sampleChannel());
      const changed = sampleChannel({ enabled: false, allowedOrigins: [], agent: {} });
      await store.putChannel(changed);
      expect(await store.channel("shop")).toEqual(changed);
    });

    it("replaceChannel() writes only what is still as it was read, and says so", async () => {
      const { store } = bench.it;
      const [first, second] = [sampleChannel(), sampleChannel({ enabled: false })];
      expect(await store.replaceChannel(first, second)).toBe(false);
      expect(await store.channel("shop")).toBeNull();
      expect(await store.replaceChannel(first, null)).toBe(true);
      expect(await store.replaceChannel(second, null)).toBe(false);
      expect(await store.channel("shop")).toEqual(first);
      expect(await store.channels()).toEqual([first]);
      const before = await store.changeCount();
      expect(await store.replaceChannel(second, first)).toBe(true);
      expect(await store.replaceChannel(sampleChannel({ accessMode: "whitelist" }), first)).toBe(false);
      expect(await store.channel("shop")).toEqual(second);
      expect(await store.changeCount()).toBeGreaterThan(before);
    });

    it("replaceChannel(): of ten who read the same one writes, each time", async () => {
      const { store } = bench.it;
      for (const before of [null, sampleChannel({ agent: { model: "m0" } })]) {
        if (before) await store.putChannel(before);
        const all = Array.from({ length: 10 }, (_, nth) =>
          sampleChannel({ agent: { model: `m${nth + 1}` } }),
        );
        const wrote = await Promise.all(all.map((channel) => store.replaceChannel(channel, before)));
        expect(wrote.filter(Boolean)).toHaveLength(1);
        expect(await store.channel("shop")).toEqual(all[wrote.indexOf(true)]);
      }
    });

    it("channels() lists every channel", async () => {
      const { store } = bench.it;
      expect(await store.channels()).toEqual([]);
      const cli = sampleChannel({
        slug: "cli",
        kind: "transport",
        publishableKey: null,
        secretKeyHash: null,
      });
      await store.putChannel(cli);
      await store.putChannel(sampleChannel());
      const listed = await store.channels();
      expect(listed.toSorted((a, b) => a.slug.localeCompare(b.slug))).toEqual([cli, sampleChannel()]);
    });

    it("a slug of any shape is a question, not a fault", async () => {
      const { store } = bench.it;
      for (const slug of ["", "a\u0000b", "{x}", "ü".repeat(3_000)])
        expect(await store.channel(slug)).toBeNull();
    });

    it("blockIp() and unblockIp() keep the list, and tell whether they changed it", async () => {
      const { store } = bench.it;
      expect(await store.blockedIps()).toEqual([]);
      expect(await store.blockIp("203.0.113.7")).toBe(true);
      expect(await store.blockIp("203.0.113.7")).toBe(false);
      await store.blockIp("2001:db8::/32");
      expect((await store.blockedIps()).toSorted()).toEqual(["2001:db8::/32", "203.0.113.7"]);
      expect(await store.unblockIp("203.0.113.7")).toBe(true);
      expect(await store.unblockIp("203.0.113.7")).toBe(false);
      expect(await store.blockedIps()).toEqual(["2001:db8::/32"]);
    });

    it("blockIp(): many at once, by two processes, are all kept", async () => {
      const { store, another } = bench.it;
      const other = (await another()) ?? store;
      const all = Array.from({ length: 40 }, (_, nth) => `203.0.113.${nth}`);
      const blocked = await Promise.all(
        all.map((address, nth) => (nth % 2 ? store : other).blockIp(address)),
      );
      expect(blocked.every(Boolean)).toBe(true);
      expect((await store.blockedIps()).toSorted()).toEqual(all.toSorted());
    });

    it("changeCount() grows with every change of channels or addresses", async () => {
      const { store } = bench.it;
      const counts = [await store.changeCount()];
      for (const change of [
        () => store.putChannel(sampleChannel()),
        () => store.blockIp("203.0.113.7"),
        () => store.unblockIp("203.0.113.7"),
      ]) {
        await change();
        counts.push(await store.changeCount());
      }
      expect(new Set(counts).size).toBe(4);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    });

    it("onChange() calls back after a change made by another process, until it is stopped", async (context) => {
      const { store, another } = bench.it;
      const other = await another();
      if (other === null) return context.skip();
      const callback = vi.fn<() => void>();
      const stop = store.onChange(callback);
      await other.putChannel(sampleChannel());
      await vi.waitFor(() => expect(callback).toHaveBeenCalled(), { timeout: 60_000 });
      expect(await store.channel("shop")).toEqual(sampleChannel());
      stop();
      const calls = callback.mock.calls.length;
      const later = vi.fn<() => void>();
      store.onChange(later);
      await other.blockIp("203.0.113.7");
      await vi.waitFor(() => expect(later).toHaveBeenCalled(), { timeout: 60_000 });
      expect(callback).toHaveBeenCalledTimes(calls);
    });

    it("channels and addresses outlive the process", async () => {
      const { store, reopen } = bench.it;
      await store.putChannel(sampleChannel());
      await store.blockIp("203.0.113.7");
      const count = await store.changeCount();
      const again = await reopen();
      expect(await again.channels()).toEqual([sampleChannel()]);
      expect(await again.blockedIps()).toEqual(["203.0.113.7"]);
      expect(await again.changeCount()).toBe(count);
    });
  });
}
