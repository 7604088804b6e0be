import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import type { Channel } from "../../src/domain/channels/channel.ts";
import { hashKey } from "../../src/keys.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import { Secret } from "../../src/secret.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { openRedisStore } from "../../src/stores/redis.ts";

import { checkInvariants } from "../stores/twin/invariants.ts";
import type { StoreDump } from "../stores/twin/invariants.ts";
import { dumpEmbedded, dumpRedis } from "../stores/dump-store.ts";
import { startModelServer } from "../support/servers/model-server.ts";
import type { ModelServer, Script } from "../support/servers/model-server.ts";
import { startRedisCluster } from "../support/stores/redis-cluster.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { UNHURRIED_MS } from "../support/unhurried.ts";
import { openTestService, ROOMY_LIMITS, TEST_KEY } from "../support/servers/service.ts";
import type { TestService } from "../support/servers/service.ts";

export const ORIGIN = "https://shop.example";
export const TRANSPORT = { authorization: `Bearer ${TEST_KEY}` };

/** A kind of store, and how many instances of a service it can carry. */
export interface Site {
  name: "embedded" | "redis" | "redis cluster";
  instances: number;
  prepare(): Promise<Ground>;
}

/** Empty when it is prepared, and gone when it is removed. */
interface Ground {
  /** Of each Redis node; none on the embedded store. */
  nodes: string[];
  open(onCommand: (name: string) => void): Promise<Store>;
  dump(): Promise<StoreDump>;
  remove(): Promise<void>;
}

/** The instances of one service on one store, with one scripted model behind them. */
export interface House {
  site: Site;
  readonly urls: string[];
  /** The first instance's. */
  readonly store: Store;
  /** Addresses of the Redis nodes. */
  nodes: string[];
  model: ModelServer;
  /** Round trips to Redis so far, by name. */
  commands: string[];
  /** Writes a channel; in force on every instance when it resolves. */
  putChannel(channel: Channel): Promise<void>;
  /** Stops every instance, and starts others on the same data. */
  restart(): Promise<void>;
  /** What does not fit together in the store; to be asked while nothing runs. */
  faults(): Promise<string[]>;
  close(): Promise<void>;
}

export const embedded: Site = { name: "embedded", instances: 1, prepare: prepareFolder };
export const redis: Site = { name: "redis", instances: 2, prepare: prepareRedis };
export const redisCluster: Site = { name: "redis cluster", instances: 2, prepare: prepareCluster };

export function webChannel(slug: string, changes: Partial<Channel> = {}): Channel {
  return {
    slug,
    kind: "web",
    publishableKey: `pk_${slug}`,
    secretKeyHash: hashKey(new Secret(secretKeyOf(slug))),
    allowedOrigins: [ORIGIN],
    enabled: true,
    accessMode: "open",
    agent: {},
    ...changes,
  };
}

export function secretKeyOf(slug: string): string {
  return `sk_secret_of_${slug}`;
}

export async function openHouse(site: Site, script?: Script): Promise<House> {
  const ground = await site.prepare();
  const modelServer = await startModelServer(script);
  const commands: string[] = [];
  let stores: Store[] = [];
  let services: TestService[] = [];
  const model = openOpenAi({ apiKey: null, baseUrl: modelServer.baseUrl, silenceMs: 30_000 });

  async function start(): Promise<void> {
    stores = [];
    services = [];
    for (let n = 0; n < site.instances; n++) {
      const store = await ground.open((name) => void commands.push(name));
      stores.push(store);
      services.push(await openTestService({ env: ROOMY_LIMITS, store, model, channels: [] }));
    }
  }

  async function stop(): Promise<void> {
    await Promise.all(services.map((service) => service.close()));
    await Promise.all(stores.map((each) => each.close()));
  }

  const firstStore = (): Store => {
    const [store] = stores;
    if (store === undefined) throw new Error("Cannot open a house: it has no instance");
    return store;
  };

  await start();
  return {
    site,
    get urls() {
      return services.map(({ url }) => url);
    },
    get store() {
      return firstStore();
    },
    nodes: ground.nodes,
    model: modelServer,
    commands,
    async putChannel(channel) {
      await firstStore().putChannel(channel);
      await Promise.all(services.map(({ directory }) => directory.renew()));
    },
    async restart() {
      await stop();
      await start();
    },
    faults: async () => checkInvariants(await ground.dump()),
    async close() {
      await stop();
      await model.close();
      await modelServer.close();
      await ground.remove();
    },
  };
}

async function prepareFolder(): Promise<Ground> {
  const dataDir = await mkdtemp(join(tmpdir(), "chat-agent-house-"));
  return {
    nodes: [],
    open: () => openEmbeddedStore({ dataDir, clock: systemClock }),
    dump: () => dumpEmbedded(dataDir),
    remove: () => rm(dataDir, { recursive: true }),
  };
}

async function prepareRedis(): Promise<Ground> {
  const server = await startRedis();
  return openOn([server.url], () => server.stop());
}

async function prepareCluster(): Promise<Ground> {
  const cluster = await startRedisCluster();
  return openOn(cluster.urls, () => cluster.stop());
}

function openOn(urls: string[], remove: () => Promise<void>): Ground {
  return {
    nodes: urls,
    open: (onCommand) =>
      openRedisStore({
        urls,
        durability: "local",
        clock: systemClock,
        log: { warn() {} },
        deadlineMs: UNHURRIED_MS,
        onCommand,
      }),
    dump: () => dumpRedis(urls),
    remove,
  };
}
