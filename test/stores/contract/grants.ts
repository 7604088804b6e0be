import { beforeEach, describe, expect, it } from "vitest";
import type { Bench } from "./contract.ts";
import { LIFETIME_MS, SLUG, sampleChannel } from "../samples.ts";
import { mint } from "../users.ts";

export function grantPromises(bench: Bench): void {
  const keep = (server: string, text: string | null, userId = "u1") =>
    bench.it.store.keepGrant({ slug: SLUG, userId, server, text });
  const begin = (stateHash: string, userId = "u1", ttlMs = 60_000) =>
    bench.it.store.keepSignIn({ slug: SLUG, userId, stateHash, text: `verifier of ${stateHash}`, ttlMs });

  describe("what a user has granted at MCP servers", () => {
    beforeEach(async () => {
      await bench.it.store.putChannel(sampleChannel());
      await mint(bench.it.store, "h1", "u1");
      await mint(bench.it.store, "h2", "u2");
    });

    it("is that user's, by the server's name, and another process reads it", async () => {
      const { store } = bench.it;
      expect(await store.grant(SLUG, "u1", "crm")).toBeNull();
      expect(await keep("crm", "one")).toBe(true);
      expect(await keep("mail", "two")).toBe(true);
      expect(await keep("crm", "three")).toBe(true);
      const reopened = await bench.it.reopen();
      expect(await reopened.grant(SLUG, "u1", "crm")).toBe("three");
      expect(await reopened.grantedServers(SLUG, "u1")).toEqual(["crm", "mail"]);
      expect([await reopened.grant(SLUG, "u2", "crm"), await reopened.grantedServers(SLUG, "u2")]).toEqual([
        null,
        [],
      ]);
      expect(await reopened.keepGrant({ slug: SLUG, userId: "u1", server: "crm", text: null })).toBe(true);
      expect(await reopened.grantedServers(SLUG, "u1")).toEqual(["mail"]);
    });

    it("goes with the user, and comes to none who is gone", async () => {
      const { store } = bench.it;
      await keep("crm", "one");
      await begin("s1");
      await store.unlistUser({ kind: "user", slug: SLUG, id: "u1", atMs: 9 });
      expect(await store.grant(SLUG, "u1", "crm")).toBeNull();
      expect(await keep("crm", "two")).toBe(false);
      expect(await begin("s2")).toBe(false);
      expect(await store.takeSignIn(SLUG, "s1")).toBeNull();
      expect(await store.grantedServers(SLUG, "u1")).toEqual([]);
    });

    it("a sign-in that is under way is taken once, by one of all who ask at once, until it expires", async () => {
      const { store, elapse } = bench.it;
      await begin("s1");
      await begin("s2", "u2");
      expect(await store.hasSignIn(SLUG, "s1")).toBe(true);
      const taken = await Promise.all([1, 2, 3].map(() => store.takeSignIn(SLUG, "s1")));
      expect(taken.filter((one) => one !== null)).toEqual([{ userId: "u1", text: "verifier of s1" }]);
      expect(await store.takeSignIn(SLUG, "s1")).toBeNull();
      expect([await store.hasSignIn(SLUG, "s1"), await store.hasSignIn(SLUG, "none")]).toEqual([
        false,
        false,
      ]);
      expect(await store.takeSignIn(SLUG, "s2")).toEqual({ userId: "u2", text: "verifier of s2" });
      await begin("s3", "u1", LIFETIME_MS);
      await elapse(1.3 * LIFETIME_MS);
      expect(await store.takeSignIn(SLUG, "s3")).toBeNull();
    });
  });
}
