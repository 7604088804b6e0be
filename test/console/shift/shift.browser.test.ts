// For src/console/inbox/, src/console/conversation/, src/operators/threads/
import { expect, onTestFinished, test } from "vitest";
import { startRedis } from "../../support/stores/redis-server.ts";
import { openShift } from "./open-shift.ts";

/** `npm run desk-shift`: ten minutes at 200 conversations an hour, and 10,000 rows in each inbox. Else in haste, and short. */
const isFull = process.env["SHIFT"] === "full";
const FULL = {
  seconds: Number(process.env["SECONDS"] ?? 600),
  everyMs: 18_000,
  rows: 10_000,
  queues: ["returns", "billing", "sales"],
};
const SHORT = { seconds: 15, everyMs: 4_000, rows: 300, queues: ["returns", "sales"] };

test(
  "two operators answer three queues: no answer is lost, and none comes twice",
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const tell = (line: string) => (isFull ? console.log(line) : undefined);
    const played = await openShift({ redisUrl: redis.url, tell, ...(isFull ? FULL : SHORT) });
    tell(JSON.stringify(played));
    expect(played).toMatchObject({ lost: 0, twice: 0, closed: played.asked });
    // How long things take says something on a quiet machine alone.
    if (!isFull) return;
    expect(played.shownMsMax).toBeLessThan(1_000);
    expect(played.longTasks).toBe(0);
  },
  20 * 60_000,
);
