// For src/threads/delete/settle-deletions.ts
import { describe, expect, it } from "vitest";
import { createSettling } from "../../../src/threads/delete/settle-deletions.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Deletion, Share } from "../../../src/store.ts";

const NOW_MS = 1_000_000;
const OLD_MS = NOW_MS - 50_000;
/** Old enough for those whose share it is, and not yet for all. */
const SETTLED_MS = NOW_MS - 40_000;

function planned(count: number, kind: Deletion["kind"] = "thread", atMs = OLD_MS): Deletion[] {
  return Array.from({ length: count }, (_, nth) => ({ kind, slug: "shop", id: `${kind}${nth}`, atMs }));
}

/** Deletions of a store that has no others; `fails`: what carrying this one out throws now. */
function settling(fails: (id: string) => Error | null = () => null, share: Share = { rank: 0, of: 1 }) {
  const did = { carriedOut: [] as string[], ended: [] as string[], failures: 0 };
  const settle = createSettling({
    store: {
      endDeletion: async ({ id }) => void did.ended.push(id),
    },
    clock: { now: () => NOW_MS },
    share: () => share,
    carryOut: async ({ id }) => {
      did.carriedOut.push(id);
      const error = fails(id);
      if (error) throw error;
    },
    onFailure: () => void (did.failures += 1),
    isStopped: () => false,
  });
  return { settle, did };
}

const away = () => new StoreUnavailable("delete");

describe("deletions that have settled", () => {
  it("are ended each by itself: one that is late every time holds up no other", async () => {
    const { settle, did } = settling((id) => (id === "thread3" ? away() : null));
    await settle(planned(20));
    expect(did.ended).toHaveLength(19);
    expect(did.ended).not.toContain("thread3");
  });

  it("have their turns in the end where most answers are late", async () => {
    let nth = 0;
    const { settle, did } = settling(() => (nth++ % 3 === 0 ? null : away()));
    for (let left = planned(100), looks = 0; left.length > 0; looks++) {
      expect(looks).toBeLessThan(30);
      await settle(left);
      left = left.filter(({ id }) => !did.ended.includes(id));
    }
    expect(did.ended).toHaveLength(100);
  });

  it("wait where the store is away, and those that were not tried come first then", async () => {
    let isAway = true;
    const { settle, did } = settling(() => (isAway ? away() : null));
    await settle(planned(100));
    const tried = did.carriedOut.splice(0);
    expect(tried.length).toBeLessThan(20);
    expect(did.ended).toEqual([]);
    isAway = false;
    await settle(planned(100));
    expect(did.carriedOut.slice(0, 100 - tried.length).filter((id) => tried.includes(id))).toEqual([]);
    expect(did.ended).toHaveLength(100);
  });

  it("are carried out behind one that cannot be, of which the log is told", async () => {
    const { settle, did } = settling((id) => (id === "user0" ? new Error("damaged") : null));
    await settle([...planned(9, "user"), ...planned(9)]);
    expect(did.failures).toBe(1);
    expect(did.ended).toHaveLength(17);
    expect(did.ended).not.toContain("user0");
  });

  it("are each carried out by one instance of several, and by any after a while", async () => {
    const instances = [0, 1, 2].map((rank) => settling(() => null, { rank, of: 3 }));
    for (const { settle } of instances) await settle(planned(100, "thread", SETTLED_MS));
    const done = instances.flatMap(({ did }) => did.carriedOut);
    expect(done).toHaveLength(100);
    expect(new Set(done).size).toBe(100);
    const [first] = instances;
    await first?.settle(planned(100));
    expect(new Set(first?.did.carriedOut).size).toBe(100);
  });

  it("are left alone before everything that was on its way has arrived", async () => {
    const { settle, did } = settling();
    await settle(planned(9, "thread", NOW_MS - 30_000));
    expect(did.carriedOut).toEqual([]);
  });
});
