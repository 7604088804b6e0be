// For src/stores/, src/threads/
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import type { Store } from "../../src/store.ts";
import { hold } from "../support/servers/model-server.ts";
import { startRedisCluster } from "../support/stores/redis-cluster.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { openWhole } from "./clients/open-whole.ts";
import type { Whole } from "./clients/open-whole.ts";

/** One command as Redis saw it, in the process's own time. */
interface Command {
  name: string;
  beganMs: number;
  endedMs: number;
}

/**
 * What this process says by itself, whoever asks what: that it lives, which calls expire, and who holds what; and what no
 * message waits for, the order of threads by activity.
 */
const BY_ITSELF: ReadonlySet<string> = new Set(["beat", "TIME", "due", "heldBy", "holders", "order"]);

/** Names of the commands, those that were under way together in one list: as many lists as round trips in a row. */
function roundTrips(commands: readonly Command[]): string[][] {
  const rounds: { names: string[]; firstEndMs: number }[] = [];
  for (const { name, beganMs, endedMs } of commands.toSorted((a, b) => a.beganMs - b.beganMs)) {
    const round = rounds.at(-1);
    if (round && beganMs < round.firstEndMs) {
      round.names.push(name);
      round.firstEndMs = Math.min(round.firstEndMs, endedMs);
    } else rounds.push({ names: [name], firstEndMs: endedMs });
  }
  return rounds.map(({ names }) => names.toSorted());
}

const grounds: [string, () => Promise<{ urls: string[]; stop(): Promise<void> }>][] = [
  [
    "one Redis",
    async () => {
      const redis = await startRedis();
      return { urls: [redis.url], stop: () => redis.stop() };
    },
  ],
  ["a cluster", startRedisCluster],
];

describe.each(grounds)("round trips to %s", (_name, startGround) => {
  let ground: { urls: string[]; stop(): Promise<void> };
  let store: Store;
  let whole: Whole;
  let commands: Command[] = [];

  beforeAll(async () => {
    ground = await startGround();
    store = await openRedisStore({
      urls: ground.urls,
      durability: "local",
      clock: systemClock,
      log: { warn() {} },
      onCommand(name, ms) {
        const endedMs = performance.now();
        if (!BY_ITSELF.has(name)) commands.push({ name, beganMs: endedMs - ms, endedMs });
      },
    });
    whole = await openWhole({ store });
    // The first claim of a process makes the process known.
    await whole.transport("/v1/messages", { threadId: "first", userId: "u", text: "x" });
    // Channels are read beside the messages, and again for each that was just written.
    whole.directory.stop();
    await whole.directory.renew();
  });
  afterAll(async () => {
    await whole.close();
    await store.close();
    await ground.stop();
  });

  /** The round trips of a message before the model is asked, and after; the second once the run has let go of its thread. */
  async function costOf(say: () => Promise<{ status: number }>): Promise<[string[][], string[][]]> {
    await expect.poll(() => whole.threads.held()).toBe(0);
    commands = [];
    whole.model.enqueue([hold()]);
    const answered = say();
    await whole.model.held();
    const before = roundTrips(commands);
    commands = [];
    whole.model.release();
    expect((await answered).status).toBe(200);
    await expect.poll(() => whole.threads.held()).toBe(0);
    return [before, roundTrips(commands)];
  }

  const first = (admit: string) => [[[admit, "load"], ["commit"]], [["commit"]]];
  const next = (admit: string) => [[[admit], ["commit"]], [["commit"]]];

  const saysTo = (threadId: string) => () =>
    whole.transport("/v1/messages", { threadId, userId: "u", text: "x" });

  test("a thread's first message of the server API costs three, two of them before the model is asked; the next one reads nothing of it", async () => {
    const say = saysTo("second");
    expect(await costOf(say)).toEqual(first("admitUser"));
    expect(await costOf(say)).toEqual(next("admitUser"));
  });

  test("so does one of the widget API", async () => {
    const token = await whole.newToken();
    const threadId = await whole.newThread(token);
    const say = () => whole.visitor(token, "POST", "messages", { threadId, text: "x" });
    expect(await costOf(say)).toEqual(first("admitVisitor"));
    expect(await costOf(say)).toEqual(next("admitVisitor"));
  });
});
