import { readdirSync } from "node:fs";
import { systemClock } from "../../../src/clock.ts";
import type { Listener } from "../../../src/listener.ts";
import type { Store } from "../../../src/store.ts";
import { openRedisStore } from "../../../src/stores/redis.ts";
import { cli, other, shop } from "../../http/service.ts";
import { valueOf } from "../../metrics/sample.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { startModelServer } from "../../support/servers/model-server.ts";
import type { ModelServer } from "../../support/servers/model-server.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { ROOMY_LIMITS, TEST_KEY } from "../../support/servers/service.ts";
import { openServiceProcess } from "../../support/servers/service-process.ts";
import { UNHURRIED_MS } from "../../support/unhurried.ts";
import { callsOf, closed, openWhole } from "./open-whole.ts";
import type { Calls } from "./open-whole.ts";

/** A whole service as its callers reach it, in this process or in others: what suites for both need. */
export interface Reached extends Calls {
  url: string;
  model: ModelServer;
  store: Store;
  /** Answers being written. */
  openStreams: () => Promise<number>;
  threadsHeld: () => Promise<number>;
  /** Of its processes together. */
  openDescriptors: () => number;
  logged(): readonly string[];
  close(): Promise<void>;
}

export type Reach = (listener: Listener["kind"]) => Promise<Reached>;

/** In this process. */
export async function reachWhole(listener: Listener["kind"]): Promise<Reached> {
  const whole = await openWhole({ listener });
  return {
    ...whole,
    openStreams: async () => whole.inFlight(),
    threadsHeld: async () => whole.threads.held(),
    openDescriptors: () => descriptorsOf("self"),
    logged: () => whole.logged,
  };
}

/** Two processes behind one port. */
export async function reachProcesses(listener: Listener["kind"]): Promise<Reached> {
  const redis = await startRedis();
  const store = await openRedisStore({
    urls: [redis.url],
    durability: "local",
    clock: systemClock,
    log: { warn() {} },
    deadlineMs: UNHURRIED_MS,
  });
  for (const channel of [shop, other, cli, closed]) await store.putChannel(channel);
  const model = await startModelServer();
  const service = await openServiceProcess({
    ...ROOMY_LIMITS,
    PROCESSES: "2",
    REDIS_URL: redis.url,
    LISTENER: listener,
    HARNESS_API_KEY: TEST_KEY,
    DATA_DIR: emptyFolder(),
    DEMO: "off",
    OPENAI_API_KEY: "sk-model",
    OPENAI_BASE_URL: model.baseUrl,
  });
  const calls = callsOf(service.url);
  async function level(name: string): Promise<number> {
    const got = await calls.ask({ path: "/metrics", headers: { authorization: `Bearer ${TEST_KEY}` } });
    const value = await valueOf(got.text, `chat_agent_${name}`);
    if (value === null) throw new Error(`Cannot read chat_agent_${name}: ${got.status} ${got.text}`);
    return value;
  }
  return {
    ...calls,
    url: service.url,
    model,
    store,
    // The question is one itself.
    openStreams: async () => (await level("open_streams")) - 1,
    threadsHeld: () => level("threads_held"),
    openDescriptors: () =>
      pidsOf(service.output.stdout).reduce((sum, pid) => sum + descriptorsOf(String(pid)), 0),
    logged: () => service.output.stdout,
    async close() {
      await service.close();
      await store.close();
      await model.close();
      await redis.stop();
    },
  };
}

/** Of every process that a supervisor's log says it started. */
export function pidsOf(log: readonly string[]): number[] {
  return log
    .map((line) => JSON.parse(line) as { started?: number; pid?: number })
    .flatMap(({ started, pid }) => (started === undefined || pid === undefined ? [] : [pid]));
}

function descriptorsOf(process: string): number {
  return readdirSync(`/proc/${process}/fd`).length;
}
