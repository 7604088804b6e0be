// For src/stores/redis.ts
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock.ts";
import { newChannelKeys } from "../../../src/keys.ts";
import { writeKeysFile } from "../../../src/installation/keys-file.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { startEchoModel } from "../../faults/victims/echo-model.ts";
import {
  ORIGIN,
  PUBLISHABLE_KEY,
  SECRET_KEY,
  TRANSPORT,
  TRANSPORT_KEY,
  WEB,
} from "../../faults/fault-channels.ts";
import { folderInMemory, temporaryFolder } from "../../support/stores/data-dir.ts";
import { unpackPackage } from "../../support/installed-package.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { ROOMY_LIMITS } from "../../support/servers/service.ts";
import { startServiceProcess } from "../../support/servers/service-process.ts";
import { populate, populationFaults } from "../../versions/fleet/population.ts";
import type { KeptThread } from "../../versions/fleet/population.ts";

/**
 * "From the embedded store to Redis", step by step as the page says, with the package that npm makes, on one Redis and on
 * a cluster: threads in all states are there, and go on. `GROW=10000` has so many.
 */
const THREADS = Number(process.env["GROW"] ?? 40);

const page = readFileSync(fileURLToPath(new URL("../../../src/stores/README.md", import.meta.url)), "utf8");

/** A step's command, as it is written there. */
function commandOf(step: number): string {
  const steps = page.slice(page.indexOf("### From the embedded store to Redis"));
  const command = new RegExp(`^${step}\\. \`([^\`]+)\`$`, "m").exec(steps)?.[1];
  if (command === undefined) throw new Error(`Cannot find the command of step ${step}`);
  return command;
}

test(
  "an embedded store grows into a Redis, and into a cluster, as the page says",
  { timeout: 1_800_000 },
  async () => {
    const model = await startEchoModel();
    onTestFinished(() => model.close());
    const folder = folderInMemory();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const bin = join(folder, "node_modules", ".bin");
    mkdirSync(bin, { recursive: true });
    const command = join(unpackPackage(folder), "dist/src/cli/chat-agent.js");
    symlinkSync(command, join(bin, "chat-agent"));
    const type = async (line: string) => {
      const { stdout } = await promisify(execFile)("bash", ["-c", line], { cwd: folder });
      return stdout;
    };

    // The key that an earlier start made for itself.
    const dataDir = join(folder, "data");
    writeKeysFile(dataDir, { harnessApiKey: TRANSPORT_KEY, demo: newChannelKeys() });
    const settings = {
      ...ROOMY_LIMITS,
      CHANNELS_FILE: writtenChannels(folder),
      OPENAI_BASE_URL: model.baseUrl,
      MODEL_TIMEOUT_SECONDS: "1000",
      TOOL_RESULT_TIMEOUT_SECONDS: "86400",
      SHUTDOWN_GRACE_SECONDS: "1",
      LISTENER: "node",
    };

    const left = await startServiceProcess({ ...settings, DATA_DIR: dataDir }, { command });
    const { threads, release } = await populate(left.url, model, THREADS);
    left.kill("SIGTERM");
    expect(await left.exit).toBe(0);
    release();

    expect(await type(commandOf(2))).toContain(` ${THREADS.toLocaleString("en")} threads,`);
    const { harnessApiKey } = JSON.parse(readFileSync(join(dataDir, "keys.json"), "utf8")) as {
      harnessApiKey: string;
    };
    for (const urls of [await oneRedis(), await cluster()]) {
      const line = commandOf(3).replace("redis://…", urls.join());
      expect(await type(line)).toContain(` ${THREADS.toLocaleString("en")} threads,`);
      const moved = { ...settings, REDIS_URL: urls.join(), HARNESS_API_KEY: harnessApiKey };
      const instances = [
        await startServiceProcess({ ...moved, DATA_DIR: temporaryFolder() }, { command }),
        await startServiceProcess({ ...moved, DATA_DIR: temporaryFolder() }, { command }),
      ];
      const faults = await faultsOf(structuredClone(threads), {
        urls,
        instances: instances.map(({ url }) => url),
      });
      expect(faults.slice(0, 20)).toEqual([]);
      const checked = await type(
        `${commandOf(3).slice(0, commandOf(3).indexOf("restore"))}check`.replace("redis://…", urls.join()),
      );
      expect(checked).toBe("Everything fits together\n");
      for (const instance of instances) await instance.close();
    }
  },
);

async function faultsOf(
  threads: readonly KeptThread[],
  { urls, instances }: { urls: string[]; instances: string[] },
): Promise<string[]> {
  const store = await openRedisStore({ urls, durability: "local", clock: systemClock, log: { warn() {} } });
  const faults = await populationFaults(threads, { store, urls: instances });
  await store.close();
  return faults;
}

function writtenChannels(folder: string): string {
  const file = join(folder, "channels.json");
  const web = {
    slug: WEB,
    kind: "web",
    publishableKey: PUBLISHABLE_KEY,
    secretKey: SECRET_KEY.reveal(),
    allowedOrigins: [ORIGIN],
  };
  writeFileSync(file, JSON.stringify({ channels: [{ slug: TRANSPORT, kind: "transport" }, web] }));
  return file;
}

async function oneRedis(): Promise<string[]> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  return [server.url];
}

async function cluster(): Promise<string[]> {
  const servers = await startRedisCluster();
  onTestFinished(() => servers.stop());
  return servers.urls;
}
