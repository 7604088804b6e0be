import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { ConfigError } from "../config/config-error.ts";
import type { Config } from "../config.ts";
import { codeOf } from "../errors.ts";
import { DEMO_SLUG, createDemoChannel, demoKeysInForce } from "../installation/default-channels.ts";
import type { DemoKeys } from "../installation/default-channels.ts";
import type { McpProcessServer, McpServer } from "../domain/channels/channel.ts";
import type { ChannelKeys } from "../keys.ts";
import type { Service } from "../service.ts";
import type { Starting } from "./starting.ts";

export interface Demo {
  /** The address of its page. */
  url: string;
  keys: DemoKeys;
  /** Creates the demo's channel again if it is gone; null if the channel was created with other keys. */
  makeChannel: (() => Promise<unknown>) | null;
}

/** The demo's page and its channel; null if the channel was changed to a transport channel. */
export async function openDemo(
  { config, log, closing }: Starting,
  { service, ownKeys }: { service: Service; ownKeys: ChannelKeys },
): Promise<Demo | null> {
  const keys = await demoKeysInForce(service.store, ownKeys);
  if (keys === null) return null;
  const page = await openDemoPage({ config, serviceUrl: service.url, keys });
  closing.push(() => page.close());
  const makeChannel = () => createDemoChannel(service.store, { keys: ownKeys, origins: page.origins });
  const ended = await makeChannel();
  if (ended.length > 0)
    log.warn({ ended }, "The demo page's origins took the place of an earlier start's in channel demo");
  await service.directory.renew();
  return { url: page.url, keys, makeChannel: keys.secretKey === null ? null : makeChannel };
}

/** The demo page, on an origin of its own. */
export interface DemoPage {
  url: string;
  /** The origins under which a browser on this machine may have opened it. */
  origins: string[];
  close(): Promise<void>;
}

/** Opens the page on DEMO_PORT. If that is unset: on PORT + 1, or on any free port if that is taken or PORT is 0. */
async function openDemoPage(options: {
  config: Config;
  serviceUrl: string;
  keys: DemoKeys;
}): Promise<DemoPage> {
  const { config, serviceUrl, keys } = options;
  const next = config.port === 0 || config.port === 65_535 ? 0 : config.port + 1;
  const wanted = config.demoPort ?? next;
  try {
    return await open(wanted);
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") throw error;
    if (config.demoPort !== null) {
      throw new ConfigError(`Cannot listen on DEMO_PORT ${wanted}: another process does`, { cause: error });
    }
    return await open(0);
  }

  async function open(port: number): Promise<DemoPage> {
    const { startDemoPage } = await import("../demo/page.ts");
    const page = await startDemoPage({
      port,
      host: config.host,
      serviceUrl,
      publishableKey: keys.publishableKey,
      secretKey: keys.secretKey?.reveal() ?? null,
      slug: DEMO_SLUG,
    });
    const url = new URL(page.url);
    const names = [url.hostname, "127.0.0.1", "localhost"];
    return {
      url: url.origin,
      origins: [...new Set(names.map((name) => `http://${name}:${url.port}`))],
      close: () => page.close(),
    };
  }
}

export interface DemoServers {
  /** By channel and name. */
  servers: ReadonlyMap<string, Record<string, McpServer>>;
  close(): Promise<void>;
}

/** The demo's MCP servers for the start's default channels: a process, and a server that is told which user asks. */
export async function openDemoServers(slugs: string[]): Promise<DemoServers> {
  if (slugs.length === 0) return { servers: new Map(), close: async () => {} };
  const { startAccountServer } = await import("../demo/account-server.ts");
  // A key of this start only: nobody else can sign for its visitors.
  const key = randomBytes(32).toString("base64url");
  const account = await startAccountServer(key);
  const known = { shop: shopServer(), account: { url: account.url, identity: { key } } };
  return {
    servers: new Map(slugs.map((slug) => [slug, known])),
    close: () => account.close(),
  };
}

function shopServer(): McpProcessServer {
  // JavaScript if built, TypeScript if run from the sources.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const path = fileURLToPath(new URL(`../demo/mcp-server.${extension}`, import.meta.url));
  return { command: process.execPath, args: [...process.execArgv, path] };
}
