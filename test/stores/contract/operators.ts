import { describe, expect, it } from "vitest";
import { AUDIT_KEPT_MS } from "../../../src/domain/people/audit.ts";
import type { AuditEntry } from "../../../src/domain/people/audit.ts";
import type { Operator } from "../../../src/domain/people/operator.ts";
import type { Store } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";

const zoe: Operator = { name: "Zoë Ångström", role: "agent", keyHash: "a1".repeat(32), channels: ["shop"] };
const ada: Operator = {
  name: "ada",
  role: "auditor",
  keyHash: "d4".repeat(32),
  channels: null,
  signIn: {
    issuer: "https://login.example",
    subject: "s-1",
    sessions: [{ keyHash: "e5".repeat(32), endsAtMs: 1_800_000_000_000 }],
  },
};

const AT_MS = Date.UTC(2026, 10, 21);

function entryAt(atMs: number, nth: number): AuditEntry {
  return { atMs, operator: "local", action: "users.block", target: `user-${nth}`, slug: "shop" };
}

/** Every target of the audit, page by page. */
async function targets(store: Store, limit: number, sinceMs = 0): Promise<string[]> {
  const met: string[] = [];
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<Store["audit"]>> = await store.audit({ limit, after, sinceMs });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    met.push(...page.items.map(({ entry }) => entry.target));
    if (page.next === null) return met;
    after = page.next;
  }
}

export function operatorPromises(bench: Bench): void {
  describe("operators", () => {
    it("are added once by a name, and sorted by it; replaced only as they were read; removed once", async () => {
      const { store, reopen } = bench.it;
      expect(await store.replaceOperator(zoe, zoe)).toBe(false);
      expect(await store.addOperator(ada)).toBe(true);
      expect(await store.addOperator(zoe)).toBe(true);
      expect(await store.addOperator({ ...zoe, role: "auditor" })).toBe(false);
      expect(await store.operators()).toEqual([zoe, ada]);
      const rotated = { ...zoe, keyHash: "c3".repeat(32) };
      expect(await store.replaceOperator(rotated, zoe)).toBe(true);
      expect(await store.replaceOperator({ ...zoe, role: "admin" }, zoe)).toBe(false);
      expect(await store.removeOperator(ada.name)).toBe(true);
      expect(await store.removeOperator(ada.name)).toBe(false);
      expect(await (await reopen()).operators()).toEqual([rotated]);
    });
  });

  describe("the audit", () => {
    it("comes newest first, page by page, also where many entries have one time", async () => {
      const { store } = bench.it;
      const times = [0, 0, 0, 1, 1, 2, 5, 5, 5, 5];
      for (const [nth, ms] of times.entries()) await store.appendAudit(entryAt(AT_MS + ms, nth));
      const newestFirst = times.map((_, nth) => `user-${nth}`).reverse();
      for (const limit of [1, 3, 10, 100]) expect(await targets(store, limit)).toEqual(newestFirst);
      expect(await targets(store, 2, AT_MS + 2)).toEqual(newestFirst.slice(0, 5));
      expect(await targets(store, 2, AT_MS + 6)).toEqual([]);
    });

    it("each of many entries that two processes append at once has its place", async () => {
      const { store, another } = bench.it;
      const other = (await another()) ?? store;
      const all = Array.from({ length: 40 }, (_, nth) => nth);
      await Promise.all(all.map((nth) => (nth % 2 ? store : other).appendAudit(entryAt(AT_MS, nth))));
      const { items } = await store.audit({ limit: 100, after: null, sinceMs: 0 });
      expect(new Set(items.map(({ place }) => place)).size).toBe(all.length);
      expect((await targets(store, 7)).toSorted()).toEqual(all.map((nth) => `user-${nth}`).toSorted());
    });

    it("a page goes on where the last one ended, whatever was written meanwhile", async () => {
      const { store } = bench.it;
      for (const nth of [0, 1, 2, 3]) await store.appendAudit(entryAt(AT_MS, nth));
      const { items, next } = await store.audit({ limit: 2, after: null, sinceMs: 0 });
      expect(items.map(({ entry }) => entry.target)).toEqual(["user-3", "user-2"]);
      await store.appendAudit(entryAt(AT_MS, 4));
      const rest = await store.audit({ limit: 2, after: next, sinceMs: 0 });
      expect(rest.items.map(({ entry }) => entry.target)).toEqual(["user-1", "user-0"]);
      expect(rest.next).toBeNull();
    });

    it("a place that is none gives an empty page", async () => {
      const { store } = bench.it;
      await store.appendAudit(entryAt(AT_MS, 0));
      for (const after of ["", "x", "1-", "-1", "1-2-3", "é", "1e3-0"]) {
        expect(await store.audit({ limit: 5, after, sinceMs: 0 })).toEqual({ items: [], next: null });
      }
    });

    it("entries of more than a year ago go with the next ones", async () => {
      const { store } = bench.it;
      for (const nth of [0, 1, 2]) await store.appendAudit(entryAt(AT_MS, nth));
      const later = AT_MS + AUDIT_KEPT_MS;
      await store.appendAudit(entryAt(later, 3));
      expect(await targets(store, 10)).toEqual(["user-3", "user-2", "user-1", "user-0"]);
      for (const nth of [4, 5]) await store.appendAudit(entryAt(later + 1, nth));
      expect(await targets(store, 10)).toEqual(["user-5", "user-4", "user-3"]);
    });
  });
}
