import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import type { Store } from "../../src/store.ts";
import { openRedisStore } from "../../src/stores/redis.ts";
import { startEchoModel } from "../faults/echo-model.ts";
import type { EchoModel } from "../faults/echo-model.ts";
import { TRANSPORT_KEY, writeChannels } from "../faults/fault-channels.ts";
import type { WrittenFleet } from "../faults/workload.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { freePort } from "../support/free-port.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { startRedis } from "../support/redis-server.ts";
import { ROOMY_LIMITS } from "../support/service.ts";
import { UNHURRIED_MS } from "../support/unhurried.ts";
import { startServe } from "./service-process.ts";
import type { ServiceProcess } from "./service-process.ts";

/** Instances of several versions on one Redis, each at its own port whatever its version. */
export interface MixedFleet extends WrittenFleet {
  store: Store;
  victims: ServiceProcess[];
  /** Of the Redis, or of all nodes. */
  redisUrls: string[];
  model: EchoModel;
  /** SIGTERM, and that version in its place. `checkout`: its sources; with `nowMs` its clock begins there. */
  replace(index: number, checkout: string, nowMs?: number): Promise<void>;
  /** What all instances logged as warnings and errors. */
  complaints(): string[];
  close(): Promise<void>;
}

const SETTLE_MS = 120_000;
const MOST_STARTS = 5;

export async function startMixedFleet(options: {
  on: "redis" | "cluster";
  /** The checkout of each instance. */
  checkouts: string[];
}): Promise<MixedFleet> {
  const args = ["--appendfsync", "always"];
  const servers = options.on === "redis" ? await oneRedis(args) : await startRedisCluster({ args });
  const model = await startEchoModel();
  model.pace(30);
  const log = { warn() {} };
  const store = await openRedisStore({
    urls: servers.urls,
    durability: "local",
    clock: systemClock,
    log,
    deadlineMs: UNHURRIED_MS,
  });
  await writeChannels(store);
  const ports = await Promise.all(options.checkouts.map(freePort));
  const complaints: string[] = [];

  function start(index: number, checkout: string, nowMs?: number): Promise<ServiceProcess> {
    const folder = mkdtempSync(join(temporaryFolder(), "instance-"));
    const channelsFile = join(folder, "channels.json");
    writeFileSync(channelsFile, JSON.stringify({ channels: [] }));
    const env = {
      ...ROOMY_LIMITS,
      DATA_DIR: folder,
      CHANNELS_FILE: channelsFile,
      REDIS_URL: servers.urls.join(),
      OPENAI_BASE_URL: model.baseUrl,
      HARNESS_API_KEY: TRANSPORT_KEY.reveal(),
      LISTENER: "node",
      LOG_LEVEL: "info",
      PORT: String(ports[index]),
      SHUTDOWN_GRACE_SECONDS: "3",
      // Some runs are held for longer than a model may be silent.
      MODEL_TIMEOUT_SECONDS: "1000",
      // Nor may a pending call end while thousands of threads are made.
      TOOL_RESULT_TIMEOUT_SECONDS: "86400",
    };
    return startedAtLast(() => startServe(checkout, env, nowMs));
  }

  const victims = await Promise.all(options.checkouts.map((checkout, index) => start(index, checkout)));

  function note(service: ServiceProcess): void {
    complaints.push(
      ...service
        .said()
        .split("\n")
        .filter((line) => /"level":[56]0/.test(line)),
    );
  }

  return {
    store,
    redisUrls: servers.urls,
    model,
    victims,
    complaints: () => complaints,

    async replace(index, checkout, nowMs) {
      const old = victims[index];
      if (!old) throw new Error("Cannot replace it: no such instance");
      await old.stop();
      note(old);
      victims[index] = await start(index, checkout, nowMs);
    },

    async settled(uids) {
      const endsAt = performance.now() + SETTLE_MS;
      for (const uid of uids) {
        for (;;) {
          const record = await store.load(uid, 1);
          if (!record || record.fence === null) break;
          if (performance.now() > endsAt) throw new Error(`Thread ${uid} does not settle`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    },

    async close() {
      for (const victim of victims) note(victim);
      await Promise.all(victims.map((victim) => victim.kill9()));
      await store.close();
      await model.close();
      await servers.stop();
    },
  };
}

/** A start gives up on a Redis that stands still for two seconds. */
async function startedAtLast(start: () => Promise<ServiceProcess>): Promise<ServiceProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === MOST_STARTS) throw error;
    }
  }
}

async function oneRedis(args: string[]): Promise<{ urls: string[]; stop: () => Promise<void> }> {
  const server = await startRedis({ args });
  return { urls: [server.url], stop: () => server.stop() };
}
