// For src/operators/retention/
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInstance } from "../threads/instance.ts";
import type { Instance } from "../threads/instance.ts";
import { aroundStore } from "../faults/flaky/around-store.ts";
import { startReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import type { ReplicatedCluster } from "../support/stores/replicated-cluster.ts";
import { UNHURRIED_MS } from "../support/unhurried.ts";
import { sampleChannel, sampleCommit, sampleMessage } from "../stores/samples.ts";
import { newTold } from "./retention-told.ts";
import { setTime } from "../threads/set-time.ts";
import { createRetention } from "../../src/operators/retention/retention.ts";
import type { Share, Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { tables } from "../../src/stores/tables.ts";

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;
const SLUGS = ["one", "two", "three", "four"];
const OLD = Array.from({ length: 15 }, (_, nth) => `old${nth}`);

describe("retention on a cluster", () => {
  let cluster: ReplicatedCluster;
  let nowMs = NOW_MS;
  const clock = { now: () => nowMs, elapsed: () => nowMs };
  const opened: Store[] = [];

  async function open(deadlineMs?: number): Promise<Store> {
    const options = deadlineMs === undefined ? {} : { deadlineMs };
    const log = { warn() {} };
    const store = await openRedisStore({
      urls: cluster.urls,
      durability: "local",
      clock,
      log,
      ...options,
    });
    opened.push(store);
    return store;
  }

  beforeAll(async () => {
    cluster = await startReplicatedCluster();
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await cluster.stop();
  });

  async function spoke(store: Store, slug: string, name: string, daysAgo: number): Promise<void> {
    const [uid, atMs] = [`${slug}-${name}`, NOW_MS - daysAgo * DAY_MS];
    const thread = { name, newUid: uid };
    const user = { slug, externalId: name, displayName: null, newUserId: `${slug}-${name}` };
    await store.admitUser({ ...user, thread, creates: true, atMs });
    const messages = [sampleMessage(1, { createdAtMs: atMs })];
    const step = { uid, opId: uid, fence: `${store.processId}:${uid}`, state: "idle" as const, holds: false };
    await store.commit(sampleCommit({ ...step, slug, messages, atMs }));
  }

  async function threadsLeft(store: Store): Promise<string[]> {
    const page = { limit: 500, after: null, sinceMs: 0, untilMs: Infinity };
    const pages = await Promise.all(SLUGS.map((slug) => store.channelThreads(slug, page)));
    return pages.flatMap(({ items }) => items.map(({ uid }) => uid)).toSorted();
  }

  function sweeper(store: Store, here: Instance, share: () => Share) {
    const { progress, ...told } = newTold();
    const retention = createRetention({
      store,
      forgets: here.threads.forgetting.aged,
      channels: () => SLUGS.map((slug) => sampleChannel({ slug, retention: { threadsDays: 30 } })),
      share,
      clock,
      timers: setTime().timers,
      log: { warn: (_: object, text?: string) => void here.complaints.push(String(text)) },
      progress,
    });
    return { look: () => retention.look().catch(() => true), stop: retention.stop, told };
  }

  it("gets to its end where a primary and an instance are lost midway, and deletes nothing younger", async () => {
    const watching = await open(UNHURRIED_MS);
    for (const slug of SLUGS) await watching.putChannel(sampleChannel({ slug }));
    await Promise.all(
      SLUGS.flatMap((slug) => [
        spoke(watching, slug, "young", 3),
        ...OLD.map((name) => spoke(watching, slug, name, 50)),
      ]),
    );
    const young = SLUGS.map((slug) => `${slug}-young`).toSorted();
    const restingIn = (slug: string) =>
      watching.restingThreads(slug, { untilMs: NOW_MS, limit: 99, after: null });
    const known = async () => (await Promise.all(SLUGS.map(restingIn))).flatMap(({ items }) => items).length;
    await expect.poll(known).toBe(SLUGS.length * (OLD.length + 1));
    await cluster.whole();

    const lost = await cluster.primaryOf(tables.activity.key("one"));
    const replica = await cluster.replicaOf(lost);
    let unlisted = 0;
    let dying: Promise<void> | undefined;
    const around = (store: Store) =>
      aroundStore(store, ["unlistThread"], async (_name, call) => {
        unlisted += 1;
        if (unlisted === 20) dying = lost.kill9();
        return call();
      });
    const shares = [
      { rank: 0, of: 2 },
      { rank: 1, of: 2 },
    ];
    const instances = await Promise.all(
      shares.map(async (_, nth) => {
        const store = around(await open());
        const here = createInstance(store, { clock });
        const share = () => shares[nth] ?? { rank: 0, of: 1 };
        return { here, ...sweeper(store, here, share) };
      }),
    );
    const lookAll = () => Promise.all(instances.map(({ look }) => look()));
    await expect.poll(async () => (await lookAll(), unlisted)).toBeGreaterThanOrEqual(20);
    await dying;
    instances[0]?.stop();
    shares[1] = { rank: 0, of: 1 };
    await cluster.promote(replica);

    const survivor = instances[1];
    await expect
      .poll(async () => (await survivor?.look(), threadsLeft(watching).catch(() => [])))
      .toEqual(young);
    nowMs += 60_000;
    const settled = async () => {
      await survivor?.here.threads.carryOutDeletions().catch(() => {});
      return watching.plannedDeletions(9);
    };
    await expect.poll(settled).toEqual([]);
    expect(await threadsLeft(watching)).toEqual(young);
    for (const slug of SLUGS) {
      expect((await watching.look(`${slug}-young`, null)).messageCount).toBe(1);
      for (const name of OLD) expect(await watching.load(`${slug}-${name}`, 9)).toBeNull();
    }
    expect(survivor?.here.complaints).toEqual([]);
  });
});
