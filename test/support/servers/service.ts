import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Line } from "../../../machines/line.ts";
import { systemClock } from "../../../src/clock.ts";
import type { Clock } from "../../../src/clock.ts";
import { readConfig } from "../../../src/config.ts";
import type { Channel, McpServer } from "../../../src/domain/channels/channel.ts";
import { createCliChannel } from "../../../src/installation/default-channels.ts";
import { createLog } from "../../../src/log.ts";
import type { Model } from "../../../src/model.ts";
import { openModel } from "../../../src/installation/open-model.ts";
import { Secret } from "../../../src/secret.ts";
import { startService } from "../../../src/service.ts";
import type { Service, ServiceDependencies } from "../../../src/service.ts";
import type { Store } from "../../../src/store.ts";
import { openEmbeddedStore } from "../../../src/stores/embedded.ts";
import { encryptedInFull } from "../stores/content-keys.ts";

/** The transport key of every service that a test starts. */
export const TEST_KEY = "test-transport-key";

/** Far above what tests ask in a minute: their requests all come from one address. */
export const ROOMY_LIMITS = {
  WIDGET_MESSAGES_PER_MINUTE: "1000000",
  WIDGET_IP_MESSAGES_PER_MINUTE: "1000000",
  WIDGET_TOOL_RESULTS_PER_MINUTE: "1000000",
  WIDGET_IP_TOOL_RESULTS_PER_MINUTE: "1000000",
  WIDGET_FILES_PER_HOUR: "1000000",
  WIDGET_IP_FILES_PER_HOUR: "1000000",
  WIDGET_RATINGS_PER_MINUTE: "1000000",
  WIDGET_IP_RATINGS_PER_MINUTE: "1000000",
  WIDGET_THREADS_PER_HOUR: "1000000",
  WIDGET_VISITORS_PER_HOUR_PER_IP: "1000000",
  WIDGET_READS_PER_MINUTE: "1000000",
  WIDGET_IP_READS_PER_MINUTE: "1000000",
};

export interface TestService extends Service {
  /** What the log said. */
  logged: string[];
  /** Stops the service, and closes and removes what was not given to it. */
  close(): Promise<void>;
}

export interface TestServiceOptions extends Partial<
  Pick<ServiceDependencies, "namedServers" | "extraRoutes" | "observer" | "tracing">
> {
  /** By slug: MCP servers of this instance. */
  ownServers?: Record<string, Record<string, McpServer>>;
  /** Settings as the service reads them; its port is any free one. */
  env?: Record<string, string>;
  harnessApiKey?: Secret;
  /** None: the embedded store in a folder of its own. A store that is given stays open. */
  store?: Store;
  /** None: the demo model. A model that is given stays open. */
  model?: Model;
  clock?: Clock;
  /** Written before the start; none: a `cli` channel. */
  channels?: Channel[];
}

/** A whole service in this process: listener, HTTP, admission, threads, agent, store and model. */
export async function openTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { env = {}, clock = systemClock, harnessApiKey = new Secret(TEST_KEY) } = options;
  const { ownServers = {}, namedServers = new Map<string, never>(), extraRoutes = [] } = options;
  const config = { ...readConfig(env), port: 0 };
  const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-service-"));
  const store = options.store ?? (await openEmbeddedStore({ dataDir, clock, ...encryptedInFull }));
  const model = options.model ?? (await openModel(config));
  const logged: string[] = [];
  const log = createLog({
    level: "info",
    secrets: [harnessApiKey],
    destination: { write: (line) => void logged.push(line) },
  });
  for (const channel of options.channels ?? []) await store.putChannel(channel);
  if (options.channels === undefined) await createCliChannel(store);
  const { observer, tracing } = options;
  const service = await startService({
    config,
    harnessApiKey,
    store,
    model,
    clock,
    log,
    ownServers: new Map(Object.entries(ownServers)),
    namedServers,
    extraRoutes,
    ...(observer ? { observer } : {}),
    ...(tracing ? { tracing } : {}),
  });
  return {
    ...service,
    logged,
    async close() {
      await service.stop(0);
      if (options.model === undefined) await model.close();
      if (options.store === undefined) await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** The same, closed when the test is over. */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await openTestService(options);
  onTestFinished(() => service.close());
  return service;
}

/** POST /v1/messages, read to its end. */
export async function sendMessage(
  url: string,
  message: { threadId: string; userId: string; text: string; channel?: string },
  key = TEST_KEY,
): Promise<{ status: number; lines: Line[]; text: string }> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(message),
  });
  const body = await response.text();
  if (response.status !== 200) return { status: response.status, lines: [], text: body };
  const lines = body
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  return { status: 200, lines, text: lines.map((line) => (line.type === "delta" ? line.text : "")).join("") };
}
