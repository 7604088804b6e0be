import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEchoModel } from "../../faults/victims/echo-model.ts";
import type { EchoModel } from "../../faults/victims/echo-model.ts";
import {
  ORIGIN,
  PUBLISHABLE_KEY,
  SECRET_KEY,
  TRANSPORT,
  TRANSPORT_KEY,
  WEB,
} from "../../faults/fault-channels.ts";
import type { WrittenFleet } from "../../faults/history/workload.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { ROOMY_LIMITS } from "../../support/servers/service.ts";
import { readAsOperator } from "./operator-reads.ts";
import type { OperatorReads } from "./operator-reads.ts";
import { AS_BUILT, runCli, startServe } from "./service-process.ts";
import type { ServiceProcess } from "./service-process.ts";

export type Version = "present" | "next";

/** The folder of each version's build. */
export type Builds = Record<Version, string>;

/**
 * Instances of several versions on one Redis, each at its own port whatever its version. They are seen from outside alone:
 * whatever the store is like, the requests are the same.
 */
export interface MixedFleet extends WrittenFleet {
  victims: Instance[];
  model: EchoModel;
  read: OperatorReads;
  /** SIGTERM, and that version in its place. */
  replace(index: number, version: Version): Promise<void>;
  /** What all instances logged as errors. */
  complaints(): string[];
  close(): Promise<void>;
}

export interface Instance extends ServiceProcess {
  version: Version;
}

const SETTLE_MS = 120_000;
const MOST_STARTS = 5;
const CHANNELS = [
  { slug: TRANSPORT, kind: "transport" },
  {
    slug: WEB,
    kind: "web",
    publishableKey: PUBLISHABLE_KEY,
    secretKey: SECRET_KEY.reveal(),
    allowedOrigins: [ORIGIN],
  },
];

export async function startMixedFleet(options: {
  on: "redis" | "cluster";
  builds: Builds;
  versions: readonly Version[];
}): Promise<MixedFleet> {
  const { on, builds, versions } = options;
  const args = ["--appendfsync", "always"];
  const servers = on === "redis" ? await oneRedis(args) : await startRedisCluster({ args });
  const model = await startEchoModel();
  model.pace(30);
  const ports = await Promise.all(versions.map(freePort));
  const said: string[] = [];

  function settings(port: number): Record<string, string> {
    const folder = mkdtempSync(join(temporaryFolder(), "instance-"));
    const channelsFile = join(folder, "channels.json");
    writeFileSync(channelsFile, JSON.stringify({ channels: CHANNELS }));
    return {
      ...ROOMY_LIMITS,
      DATA_DIR: folder,
      CHANNELS_FILE: channelsFile,
      REDIS_URL: servers.urls.join(),
      OPENAI_BASE_URL: model.baseUrl,
      HARNESS_API_KEY: TRANSPORT_KEY.reveal(),
      LISTENER: "node",
      LOG_LEVEL: "info",
      PORT: String(port),
      SHUTDOWN_GRACE_SECONDS: "3",
      // Some runs are held for longer than a model may be silent.
      MODEL_TIMEOUT_SECONDS: "1000",
      // Nor may a pending call end while thousands of threads are made.
      TOOL_RESULT_TIMEOUT_SECONDS: "86400",
    };
  }

  async function start(index: number, version: Version): Promise<Instance> {
    const env = settings(ports[index] ?? 0);
    return {
      ...(await startedAtLast(() => startServe(builds[version], env, undefined, AS_BUILT))),
      version,
    };
  }

  const victims = await Promise.all(versions.map((version, index) => start(index, version)));
  const added = await runCli(
    builds.present,
    settings(0),
    ["operators", "add", "ann", "--role", "admin", "--json"],
    AS_BUILT,
  );
  const { key } = JSON.parse(added) as { key: string };
  // The next version reads what the present one wrote, not the other way round.
  const readers = () => victims.toSorted((one, other) => one.version.localeCompare(other.version));
  const read = readAsOperator(key, () => readers()[0]?.url ?? "");

  return {
    model,
    victims,
    read,
    store: { history: read.history },
    complaints: () =>
      [...said, ...victims.map((victim) => victim.said())]
        .flatMap((text) => text.split("\n"))
        .filter((line) => /"level":[56]0/.test(line)),

    async replace(index, version) {
      const old = victims[index];
      if (!old) throw new Error("Cannot replace it: no such instance");
      await old.stop();
      said.push(old.said());
      // From now on whoever answers there is of that version.
      victims[index] = { ...old, version };
      victims[index] = await start(index, version);
    },

    async settled(uids) {
      const endsAt = performance.now() + SETTLE_MS;
      for (const uid of uids) {
        while ((await read.state(uid)) === "running") {
          if (performance.now() > endsAt) throw new Error(`Thread ${uid} does not settle`);
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    },

    async close() {
      await Promise.all(victims.map((victim) => victim.kill9()));
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
