import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { sampleChannel } from "../../stores/samples.ts";
import { startRedis } from "./redis-server.ts";
import type { RedisServer } from "./redis-server.ts";
import { UNHURRIED_MS } from "../unhurried.ts";

/** A store on a Redis whose file holds each step before it is answered; both end with the test. */
export async function openRedisWithFile(): Promise<{ server: RedisServer; store: Store; file: string }> {
  // By default Redis may answer before it writes, while it waits for the disk: what was acknowledged could be missing.
  const server = await startRedis({ args: ["--appendfsync", "always"] });
  const store = await openRedisStore({
    urls: [server.url],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
    deadlineMs: UNHURRIED_MS,
  });
  onTestFinished(async () => {
    await store.close();
    await server.stop();
  });
  await store.putChannel(sampleChannel());
  return { server, store, file: join(server.dir, "appendonlydir", "appendonly.aof.1.incr.aof") };
}

/** Where commands begin in such a file, from a place on. */
export function beginsOfCommands(bytes: Buffer, from: number): number[] {
  const text = bytes.subarray(from).toString("latin1");
  return [...text.matchAll(/\*\d+\r\n/g)].map(({ index }) => from + index);
}
