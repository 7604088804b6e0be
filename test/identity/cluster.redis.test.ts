import { createClient } from "redis";
import { expect, it } from "vitest";
import { terminalOf } from "../scenarios/page.ts";
import { redisCluster, webChannel } from "../scenarios/houses.ts";
import type { House } from "../scenarios/houses.ts";
import { clientOf } from "./channel-client.ts";
import { describeIdentity } from "./describe-identity.ts";

const THREADS = 60;
/** What instances do by themselves, whatever is asked of them. */
const BACKGROUND = ["GET", "beat", "ZRANGEBYSCORE"];

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

    house.commands.length = 0;
    expect((await client.identify(token, "ada")).status).toBe(200);
    expect(house.commands.filter((name) => !BACKGROUND.includes(name))).toEqual(["read_identity", "merge"]);
    for (const threadId of threadIds) expect((await client.history(token, threadId)).status).toBe(200);
  });
});

/** How many of these threads' headers each node has. */
async function countThreads({ nodes }: House, uids: ReadonlySet<string>): Promise<number[]> {
  return Promise.all(
    nodes.map(async (url) => {
      const client = createClient({ url });
      await client.connect();
      const headers = await client.keys("h:*");
      client.destroy();
      return headers.filter((key) => uids.has(key.split(":").at(-1) ?? "")).length;
    }),
  );
}
