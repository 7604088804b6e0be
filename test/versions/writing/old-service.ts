import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { Golden } from "../golden/golden.ts";
import { runCli, startServe } from "../fleet/service-process.ts";
import { startShopTools } from "../fleet/shop-tools.ts";
import { CHANNEL_KEYS, ORIGIN, startTaughtModel } from "./world.ts";
import type { World } from "./world.ts";

/** An old version on a store of its own, process after process. */
export interface OldService {
  world: World;
  store: Golden["store"];
  dataDir: string;
  /** null on the embedded store. */
  redisUrl: string | null;
  /** Starts a process, lets it live through that, and kills it in the middle of whatever it does then. */
  live(settings: Record<string, string>, through: () => Promise<void>): Promise<void>;
  remove(): Promise<void>;
}

const GIVEN_KEY = "tk_golden_transport";

export async function openOldService(checkout: string, store: Golden["store"]): Promise<OldService> {
  const folder = mkdtempSync(join(tmpdir(), "chat-agent-golden-"));
  const dataDir = join(folder, "data");
  const { model, teach } = await startTaughtModel();
  const tools = await startShopTools({ hangs: true });
  const redis = store === "redis" ? await startRedis() : null;
  const channelsFile = join(folder, "channels.json");
  writeFileSync(channelsFile, JSON.stringify({ channels: channels(tools.url) }));

  const env = {
    DATA_DIR: dataDir,
    CHANNELS_FILE: channelsFile,
    OPENAI_BASE_URL: model.baseUrl,
    WIDGET_MESSAGES_PER_MINUTE: "1000",
    WIDGET_IP_MESSAGES_PER_MINUTE: "1000",
    // On the embedded store the service makes a key of its own, and keeps it beside the store.
    ...(redis === null ? {} : { REDIS_URL: redis.url, HARNESS_API_KEY: GIVEN_KEY }),
  };
  const world: World = {
    backend: { url: "", transportKey: "" },
    model,
    tools,
    tokens: [],
    threads: [],
    operators: {},
    teach,
    cli: (...args) => runCli(checkout, env, args),
  };

  return {
    world,
    store,
    dataDir,
    redisUrl: redis?.url ?? null,
    async live(settings, through) {
      const service = await startServe(checkout, { ...env, ...settings });
      const transportKey = redis === null ? generatedKey(dataDir) : GIVEN_KEY;
      world.backend = { url: service.url, transportKey };
      try {
        await through();
      } catch (error) {
        throw new Error(`Cannot live through this: the service said ${service.said()}`, { cause: error });
      } finally {
        await service.kill9();
      }
    },
    async remove() {
      await redis?.stop();
      await model.close();
      await tools.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function generatedKey(dataDir: string): string {
  const keys = JSON.parse(readFileSync(join(dataDir, "keys.json"), "utf8")) as { harnessApiKey: string };
  return keys.harnessApiKey;
}

function channels(toolsUrl: string): object[] {
  const mcpServers = { shop: { url: toolsUrl, headers: { "x-shop-key": "golden" } } };
  const agent = { instructions: "You help visitors of a shop.", model: "scripted", mcpServers };
  const web = { kind: "web", allowedOrigins: [ORIGIN, "http://localhost:3000"] };
  return [
    { slug: "cli", kind: "transport" },
    { slug: "bot", kind: "transport", agent },
    { slug: "closed", kind: "transport" },
    {
      slug: "frugal",
      kind: "transport",
      agent: { mcpServers, maxOutputTokensPerRun: 10, maxTokensPerUserPerDay: 100 },
    },
    {
      slug: "shop",
      ...web,
      ...CHANNEL_KEYS.shop,
      agent: { ...agent, maxOutputTokensPerRun: 50_000, maxTokensPerUserPerDay: 1_000_000 },
    },
    { slug: "members", ...web, ...CHANNEL_KEYS.members, accessMode: "whitelist" },
    { slug: "careful", kind: "transport", agent: { ...agent, tools: { confirm: ["order"] } } },
    { slug: "desk", kind: "transport", handoff: { enabled: true } },
    { slug: "hasty", kind: "transport", handoff: { enabled: true, waitSeconds: 1 } },
    { slug: "counter", ...web, ...CHANNEL_KEYS.counter, handoff: { enabled: true } },
  ];
}
