import { describe, expect, it, vi } from "vitest";
import type { Operator } from "../../../src/domain/people/operator.ts";
import type { Bench } from "./contract.ts";
import { sampleChannel } from "../samples.ts";

const operator: Operator = { name: "local", role: "admin", keyHash: "b2".repeat(32), channels: null };

export function channelPromises(bench: Bench): void {
  describe("channels, addresses and operators", () => {
    it("a slug of any shape is a question, not a fault", async () => {
      const { store } = bench.it;
      for (const slug of ["", "a\u0000b", "{x}", "ü".repeat(3_000)])
        expect(await store.channel(slug)).toBeNull();
    });

    it("replaceChannel() writes only what is still as it was read", async () => {
      const { store } = bench.it;
      const [first, second] = [sampleChannel(), sampleChannel({ enabled: false, agent: {} })];
      expect(await store.replaceChannel(first, second)).toBe(false);
      expect(await store.replaceChannel(first, null)).toBe(true);
      expect(await store.replaceChannel(second, first)).toBe(true);
      expect(await store.replaceChannel(sampleChannel({ accessMode: "whitelist" }), first)).toBe(false);
      expect(await store.channels()).toEqual([second]);
    });

    it("each change is counted", async () => {
      const { store } = bench.it;
      const counts = [await store.changeCount()];
      for (const change of [
        () => store.putChannel(sampleChannel()),
        () => store.replaceChannel(sampleChannel({ enabled: false }), sampleChannel()),
        () => store.blockIp("203.0.113.7"),
        () => store.unblockIp("203.0.113.7"),
        () => store.addOperator(operator),
        () => store.replaceOperator({ ...operator, role: "auditor" }, operator),
        () => store.removeOperator("local"),
      ]) {
        await change();
        counts.push(await store.changeCount());
      }
      expect(new Set(counts).size).toBe(8);
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
      await other.addOperator(operator);
      await vi.waitFor(() => expect(later).toHaveBeenCalled(), { timeout: 60_000 });
      expect(callback).toHaveBeenCalledTimes(calls);
    });
  });
}
