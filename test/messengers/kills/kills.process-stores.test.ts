// For src/messengers/, src/webhooks/lane.ts
import { expect, inject, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { playKills } from "./play-kills.ts";

test.each(inject("stores"))(
  "P1: kills lose nothing of a messenger's chats and mix nothing up; what was in flight at a kill may come twice; on the %s store",
  async (kind) => {
    const redis = kind === "redis" ? await startRedis() : null;
    onTestFinished(() => redis?.stop());
    const { said, lost, twice, outOfOrder, kills } = await playKills({
      instances: redis === null ? 1 : 2,
      seconds: 12,
      perMinute: 600,
      killEverySeconds: 4,
      chats: 20,
      dataDir: temporaryFolder(),
      ...(redis === null ? {} : { redisUrl: redis.url }),
    });
    expect({ lost, outOfOrder }).toEqual({ lost: 0, outOfOrder: 0 });
    // Each chat has talked, however busy the machine is elsewhere.
    expect(said).toBeGreaterThan(20);
    expect(kills).toBeGreaterThan(0);
    // One process delivers, and posts to as many chats at once as had a reply ready.
    expect(twice).toBeLessThanOrEqual(kills * 2);
  },
  120_000,
);
