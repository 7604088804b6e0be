// For src/visitors/, src/stores/steps/users/, src/domain/people/identify.ts
import { expect, it, onTestFinished } from "vitest";
import { createVisitors } from "../../src/visitors/visitors.ts";
import { systemClock } from "../../src/clock.ts";
import { redisClient } from "../support/stores/redis-client.ts";
import { UNHURRIED_MS } from "../support/unhurried.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { terminalOf } from "../scenarios/page.ts";
import { redisCluster, webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { clientOf } from "./channel-client.ts";
import { describeIdentity } from "./describe-identity.ts";

const THREADS = 60;

describeIdentity(redisCluster, (open) => {
  it("one visitor's threads lie on every node, and identify still is one reading and one function", async () => {
    const house = open();
    await house.putChannel(webChannel("wide"));
    const client = clientOf(house, "wide");
    await client.access("ada");
    const { token } = await client.newVisitor();
    const threadIds: string[] = [];
    for (let n = 0; n < THREADS; n++) threadIds.push(await client.newThread(token));
    const said = await Promise.all(threadIds.map((threadId) => client.say(token, threadId, "Hello")));
    expect(said.map((got) => terminalOf(got).type)).toEqual(threadIds.map(() => "done"));

    const counts = await countThreads(house, new Set(threadIds));
    expect(counts.reduce((sum, count) => sum + count)).toBe(THREADS);
    for (const count of counts) expect(count).toBeGreaterThan(0);

    // Past the instances, which have commands of their own at any time.
    const commands: string[] = [];
    const store = await openRedisStore({
      urls: house.nodes,
      durability: "local",
      clock: systemClock,
      log: { warn() {} },
      deadlineMs: UNHURRIED_MS,
      onCommand: (name) => void commands.push(name),
    });
    onTestFinished(() => store.close());
    const visitors = createVisitors({ store, clock: systemClock, ttlMs: 86_400_000 });
    await visitors.identify({ slug: "wide", visitorToken: token, externalId: "ada" });
    // Two readings, one of what moves, and one step; opening the store reads as well.
    const asked = commands.filter((name) => name !== "read");
    expect(asked).toEqual(["readIdentity", "readIdentity", "readMerge", "merge"]);
    for (const threadId of threadIds) expect((await client.history(token, threadId)).status).toBe(200);
  });
});

/** How many of these threads' headers each node has. */
async function countThreads({ nodes }: House, uids: ReadonlySet<string>): Promise<number[]> {
  return Promise.all(
    nodes.map(async (url) => {
      const client = redisClient(url);
      await client.connect();
      const headers = await client.keys("h:*");
      client.destroy();
      return headers.filter((key) => uids.has(key.split(":").at(-1) ?? "")).length;
    }),
  );
}
