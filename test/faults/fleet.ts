import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { freePort } from "../support/free-port.ts";
import { startRedis } from "../support/redis-server.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { startEchoModel } from "./echo-model.ts";
import type { EchoModel } from "./echo-model.ts";
import { startTcpProxy } from "./tcp-proxy.ts";
import type { TcpProxy } from "./tcp-proxy.ts";
import { startVictim } from "./victims.ts";
import type { Victim } from "./victims.ts";
import type { VictimSettings } from "./victim.ts";

/** Several processes of the service on one Redis, which they reach through a proxy, and the model behind them. */
export interface Fleet {
  redis: RedisServer;
  /** Between the instances and Redis. */
  network: TcpProxy;
  model: EchoModel;
  /** What the store holds, seen through the proxy. */
  store: Store;
  victims: Victim[];
  /** Starts instance `index` again, on the port that it had. */
  restart(index: number, settings?: VictimSettings): Promise<void>;
  /** Resolves when no thread of these runs or waits. */
  settled(uids: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

const SETTLE_MS = 60_000;

export async function startFleet(
  options: {
    instances?: number;
    env?: NodeJS.ProcessEnv;
    settings?: VictimSettings;
    /** Added to those of redis-server. */
    redisArgs?: string[];
    /** Called when Redis is there, before the instances are. */
    onRedis?: (redis: RedisServer) => Promise<unknown>;
  } = {},
): Promise<Fleet> {
  const { instances = 2, settings = {}, redisArgs = [] } = options;
  // With `everysec`, Redis answers before it writes whenever an fsync is under way: a SIGKILL then loses what it
  // acknowledged, however short the fsync is.
  const redis = await startRedis({ args: ["--appendfsync", "always", ...redisArgs] });
  await options.onRedis?.(redis);
  const network = await startTcpProxy(redis.port);
  const model = await startEchoModel();
  const env = {
    OPENAI_BASE_URL: model.baseUrl,
    REDIS_URL: `redis://127.0.0.1:${network.port}`,
    ...options.env,
  };
  // Named from the start: a port that was any free one is not given again for a minute after a death (SO_REUSEADDR).
  const ports = await Promise.all(Array.from({ length: instances }, freePort));
  const victims = await Promise.all(
    ports.map((port) => startVictim({ ...env, PORT: String(port) }, settings)),
  );
  const store = await openRedisStore({
    urls: [env.REDIS_URL],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
  });

  return {
    redis,
    network,
    model,
    store,
    victims,

    async restart(index, changed = settings) {
      victims[index] = await startVictim({ ...env, PORT: String(mustHave(ports[index])) }, changed);
    },

    async settled(uids) {
      const endsAt = performance.now() + SETTLE_MS;
      for (const uid of uids) {
        for (;;) {
          const record = await store.load(uid, 1).catch(() => "unreachable" as const);
          if (!record || (record !== "unreachable" && record.fence === null)) break;
          if (performance.now() > endsAt) throw new Error(`Thread ${uid} does not settle`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    },

    async close() {
      for (const victim of victims) victim.resume();
      await Promise.all(victims.map((victim) => victim.kill9()));
      await store.close();
      await network.close();
      await model.close();
      await redis.stop();
    },
  };
}

export function mustHave<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("Cannot go on: no such instance");
  return value;
}
