import { systemClock } from "../../../src/clock.ts";
import type { Store } from "../../../src/store.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { ageRedis } from "../../support/stores/age-redis.ts";
import { redisClient } from "../../support/stores/redis-client.ts";
import type { StoreUnderTest } from "../contract/contract.ts";

type Options = Partial<Parameters<typeof openRedisStore>[0]>;

/** Orders each node, as a client that is not the store's; the answers by node. */
export function orderEach(urls: readonly string[], ...command: string[]): Promise<unknown[]> {
  return Promise.all(
    urls.map(async (url) => {
      const client = await redisClient(url).connect();
      try {
        return await client.sendCommand(command);
      } finally {
        client.destroy();
      }
    }),
  );
}

/** Stores on servers that the tests of a file share. `urlsOf`: of the nodes, once they are started. */
export function redisStores(urlsOf: () => string[], always: Options = {}) {
  const opened: Store[] = [];

  async function open(options: Options = {}): Promise<Store> {
    const own = { urls: urlsOf(), durability: "local", clock: systemClock, log: { warn() {} } } as const;
    const store = await openRedisStore({ ...own, ...always, ...options });
    opened.push(store);
    return store;
  }

  async function closeAll(): Promise<void> {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  }

  async function openForTest(): Promise<StoreUnderTest> {
    await orderEach(urlsOf(), "FLUSHALL");
    return {
      store: await open(),
      reopen: () => open(),
      another: () => open(),
      elapse: (ms) => ageRedis(urlsOf(), ms),
      clean: closeAll,
    };
  }

  return { open, closeAll, openForTest };
}
