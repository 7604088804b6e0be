import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { startEchoModel } from "../victims/echo-model.ts";
import type { EchoModel } from "../victims/echo-model.ts";
import { settled, startInstances } from "./instances.ts";
import type { Instances } from "./instances.ts";
import { startTcpProxy } from "../victims/tcp-proxy.ts";
import type { TcpProxy } from "../victims/tcp-proxy.ts";
import type { VictimSettings } from "../victims/victim.ts";

/** Several processes of the service on one Redis, which they reach through a proxy, and the model behind them. */
export interface Fleet extends Omit<Instances, "stop"> {
  redis: RedisServer;
  /** Between the instances and Redis. */
  network: TcpProxy;
  model: EchoModel;
  /** What the store holds, seen through the proxy. */
  store: Store;
  /** Resolves when no thread of these runs or waits. */
  settled(uids: Iterable<string>): Promise<void>;
  close(): Promise<void>;
}

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
  const { victims, restart, stop } = await startInstances({ count: instances, env, settings });
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

    restart,

    settled: (uids) => settled(store, uids),

    async close() {
      await stop();
      await store.close();
      await network.close();
      await model.close();
      await redis.stop();
    },
  };
}
