import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import type { Store, UserPage } from "../../../src/store.ts";
import type { Bench } from "./contract.ts";
import { SLUG, sampleChannel } from "../samples.ts";
import { admitCaller, merged, mint } from "../users.ts";

async function allPages(store: Store, limit: number, order: UserPage["order"]): Promise<string[]> {
  const met: string[] = [];
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<Store["usersPage"]>> = await store.usersPage(SLUG, {
      limit,
      after,
      order,
    });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    met.push(...page.items.map(({ user }) => user.userId));
    if (page.next === null) return met;
    after = page.next;
  }
}

export function userPagePromises(bench: Bench): void {
  describe("pages of users", () => {
    beforeEach(() => bench.it.store.putChannel(sampleChannel()));

    it("hold each user once, in order, whatever the limit and however many came in one millisecond", async () => {
      const { store } = bench.it;
      const times = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 12 });
      let users = 0;
      await fc.assert(
        fc.asyncProperty(times, fc.integer({ min: 1, max: 7 }), async (atMs, limit) => {
          for (const at of atMs) {
            users += 1;
            await mint(store, `h${users}`, `u${users}`, at);
          }
          const oldestFirst = await allPages(store, limit, "oldest first");
          expect(new Set(oldestFirst).size).toBe(users);
          expect(oldestFirst).toHaveLength(users);
          expect(await allPages(store, limit, "newest first")).toEqual(oldestFirst.toReversed());
        }),
        { numRuns: 8 },
      );
    });

    it("tell when each user came, and go on behind a user who is gone meanwhile", async () => {
      const { store } = bench.it;
      for (const nth of [1, 2, 3, 4]) await mint(store, `h${nth}`, `u${nth}`, nth * 10);
      await admitCaller(store, { externalId: "kim", newUserId: "u-kim", atMs: 90 });
      const first = await store.usersPage(SLUG, { limit: 2, after: null, order: "oldest first" });
      expect(first.items.map(({ user, createdAtMs }) => [user.userId, createdAtMs])).toEqual([
        ["u1", 10],
        ["u2", 20],
      ]);
      await merged(store, "h2");
      const second = await store.usersPage(SLUG, { limit: 2, after: first.next, order: "oldest first" });
      expect(second.items.map(({ user }) => user.userId)).toEqual(["u3", "u4"]);
      const third = await store.usersPage(SLUG, { limit: 2, after: second.next, order: "oldest first" });
      expect(third.items.map(({ user }) => user.externalId)).toEqual(["kim"]);
      expect(third.next).toBeNull();
    });

    it("a place that is none gives an empty page", async () => {
      const { store } = bench.it;
      await mint(store, "h1", "u1");
      for (const after of ["", "x", "1-", "-u1", "1e3-u1"]) {
        const page = await store.usersPage(SLUG, { limit: 5, after, order: "oldest first" });
        expect(page).toEqual({ items: [], next: null });
      }
      const nowhere = { limit: 5, after: null, order: "oldest first" } as const;
      expect(await store.usersPage("nowhere", nowhere)).toEqual({ items: [], next: null });
    });
  });
}
