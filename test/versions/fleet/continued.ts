import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { McpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import type { ModelServer } from "../../support/servers/model-server.ts";
import { folderInMemory } from "../../support/stores/data-dir.ts";
import { shiftDeadlines } from "../../support/stores/age-redis.ts";
import { startRedisCluster } from "../../support/stores/redis-cluster.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { runCommand } from "../../support/terminal.ts";
import { openPage } from "./api.ts";
import type { Backend, Page } from "./api.ts";
import { startEchoingModel } from "./echoing-model.ts";
import { argumentsOf } from "../golden/golden.ts";
import type { Golden, Shown, ShownConversation, ThreadFact } from "../golden/golden.ts";
import { restoreGolden } from "../golden/load-golden.ts";
import { HERE, startServe } from "./service-process.ts";
import { startShopTools } from "./shop-tools.ts";

/** Golden records under this version: loaded, looked at, and served. */
export interface Continued {
  /** What this version's command line showed of them before anything went on. */
  shown: Shown[];
  backend: Backend;
  model: ModelServer;
  tools: McpHttpServer;
  /** As the visitor of that token. */
  page(token: string): Page;
  conversation(thread: ThreadFact): Promise<ShownConversation>;
  /** Stops the service, and starts it with its clock at that time. */
  restart(nowMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Later than the records, and before the first deadline in them. */
const LATER_MS = 60_000;

const WITHOUT_FILES = { args: ["--appendonly", "no"] };

/** What the records of one Redis hold, a cluster holds under the same keys. */
export type Place = "embedded" | "redis" | "cluster";

export async function continueGolden(golden: Golden, place: Place): Promise<Continued> {
  const { facts } = golden;
  const folder = folderInMemory();
  const servers = await startServers(place);
  const storeEnv = {
    DATA_DIR: folder,
    MCP_PRIVATE: "on",
    ...(servers === null ? {} : { REDIS_URL: servers.urls.join() }),
  };
  let clockMs = facts.takenAtMs + LATER_MS;
  // A Redis judges by its time, which is the present one. Whoever opens an embedded store has the time of its records.
  const at = servers === null ? () => clockMs : null;
  await atTime(at, () =>
    restoreGolden(golden, storeEnv, { atMs: at?.() ?? Date.now(), movesDeadlines: servers !== null }),
  );

  const print = printer(storeEnv, at);
  const shown: Shown[] = [];
  for (const { command } of golden.shown) shown.push({ command, printed: await print(argumentsOf(command)) });

  const model = await startEchoingModel();
  const tools = await startShopTools({ hangs: false });
  await moveTools({ print, folder, url: tools.url });
  const start = (nowMs: number) =>
    startServe(HERE, { ...storeEnv, ...settingsOf(golden, { folder, model }) }, nowMs);
  let service = await start(clockMs);
  const backend = { url: service.url, transportKey: facts.transportKey };

  return {
    shown,
    backend,
    model,
    tools,
    page: (token) => openPage(backend.url, { origin: facts.origin, token }),
    conversation: async ({ slug, uid }) =>
      (await print(argumentsOf(["threads", "show", slug, uid]))) as ShownConversation,
    async restart(nowMs) {
      await service.stop();
      if (servers) await shiftDeadlines(servers.urls, clockMs - nowMs);
      clockMs = nowMs;
      service = await start(nowMs);
      backend.url = service.url;
    },
    async close() {
      await service.kill9();
      await model.close();
      await tools.close();
      await servers?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startServers(place: Place): Promise<{ urls: string[]; stop: () => Promise<void> } | null> {
  if (place === "embedded") return null;
  if (place === "cluster") return startRedisCluster(WITHOUT_FILES);
  const server = await startRedis(WITHOUT_FILES);
  return { urls: [server.url], stop: () => server.stop() };
}

/** With the wall clock of this process at that time meanwhile; null: as it is. */
async function atTime<Result>(at: (() => number) | null, work: () => Promise<Result>): Promise<Result> {
  if (at === null) return work();
  const clock = vi.spyOn(Date, "now").mockImplementation(at);
  return work().finally(() => clock.mockRestore());
}

/** What a command prints. They run in this process, one at a time: a store's file is opened once. */
function printer(
  env: Record<string, string>,
  at: (() => number) | null,
): (args: string[]) => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  return (args) => {
    const printed = last.then(async () => {
      const { code, out, err } = await atTime(at, () => runCommand(env, args));
      if (code !== 0) throw new Error(`Cannot ${args.join(" ")}: ${err}`);
      return JSON.parse(out) as unknown;
    });
    last = printed.catch(() => {});
    return printed;
  };
}

/** The shop's tools are somewhere else now: its operator says so. */
async function moveTools(options: {
  print: (args: string[]) => Promise<unknown>;
  folder: string;
  url: string;
}): Promise<void> {
  const { print, folder, url } = options;
  const channels = (await print(["channels", "list", "--json"])) as {
    slug: string;
    agent: { mcpServers?: { shop: object } };
  }[];
  for (const { slug, agent } of channels) {
    if (agent.mcpServers === undefined) continue;
    const file = join(folder, `${slug}.json`);
    const mcpServers = { shop: { ...agent.mcpServers.shop, url } };
    writeFileSync(file, JSON.stringify({ ...agent, mcpServers }));
    await print(["channels", "update", slug, "--agent", file, "--json"]);
  }
}

/** The transport key of the embedded store's service is in the keys file that was beside its store. */
function settingsOf(
  { store, facts }: Golden,
  { folder, model }: { folder: string; model: ModelServer },
): Record<string, string> {
  const channelsFile = join(folder, "channels.json");
  writeFileSync(channelsFile, JSON.stringify({ channels: [] }));
  return {
    CHANNELS_FILE: channelsFile,
    OPENAI_BASE_URL: model.baseUrl,
    CLIENT_IP_SOURCE: "x-forwarded-for",
    WIDGET_MESSAGES_PER_MINUTE: "1000",
    WIDGET_IP_MESSAGES_PER_MINUTE: "1000",
    SHUTDOWN_GRACE_SECONDS: "5",
    ...(store === "redis" ? { HARNESS_API_KEY: facts.transportKey } : {}),
  };
}
