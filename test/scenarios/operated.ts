import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { echoOrCall } from "../identity/script.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startModelServer } from "../support/servers/model-server.ts";
import type { ModelServer } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { ROOMY_LIMITS, TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { runCommand } from "../support/terminal.ts";
import type { Ran } from "../support/terminal.ts";
import { ORIGIN } from "./houses.ts";
import { ask } from "./page.ts";

/** A running service, whose operator works in another process. */
export interface Operated {
  urls: string[];
  model: ModelServer;
  keys: { publishableKey: string; secretKey: string };
  /** Runs a command that succeeds, and answers what it prints with --json. */
  operate: (...args: string[]) => Promise<unknown>;
  /** Runs a command that prints no JSON. */
  run: (...args: string[]) => Promise<Ran>;
  /** The status of the same request at each instance. */
  everywhere: (path: string, headers: Record<string, string>, body?: unknown) => Promise<number[]>;
  /** The statuses of a visitor who comes in at each instance. */
  enter: (publishableKey?: string) => Promise<number[]>;
  /** This status at every instance. */
  all: (status: number) => number[];
}

export async function startOperated(kind: "embedded" | "redis"): Promise<Operated> {
  const model = await startModelServer(echoOrCall);
  onTestFinished(() => model.close());
  const redis = kind === "redis" ? await startRedis() : null;
  onTestFinished(async () => redis?.stop());
  const keys = { publishableKey: "pk_shop", secretKey: "sk_shop_secret" };
  const CHANNELS_FILE = join(temporaryFolder(), "channels.json");
  const channels = [
    { slug: "shop", kind: "web", ...keys, allowedOrigins: [ORIGIN] },
    { slug: "bot", kind: "transport" },
  ];
  writeFileSync(CHANNELS_FILE, JSON.stringify({ channels }));
  const env = {
    DATA_DIR: temporaryFolder(),
    CHANNELS_FILE,
    HARNESS_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: model.baseUrl,
    ...ROOMY_LIMITS,
    ...(redis === null ? {} : { REDIS_URL: redis.url }),
  };
  const second = redis === null ? [] : [startServiceProcess({ ...env, DATA_DIR: temporaryFolder() })];
  const urls = (await Promise.all([startServiceProcess(env), ...second])).map(({ url }) => url);
  const run = (...args: string[]) => runCommand(env, args);
  const everywhere = async (path: string, headers: Record<string, string>, body?: unknown) => {
    const asked = urls.map((url) => ask(url, path, { headers, ...(body === undefined ? {} : { body }) }));
    return (await Promise.all(asked)).map(({ status }) => status);
  };
  return {
    urls,
    model,
    keys,
    run,
    everywhere,
    enter: (key = keys.publishableKey) =>
      everywhere("/v1/widget/visitors", { origin: ORIGIN, "x-publishable-key": key }),
    all: (status) => urls.map(() => status),
    async operate(...args) {
      const { code, out, err } = await run(...args, "--json");
      expect({ code, err }).toEqual({ code: 0, err: "" });
      return JSON.parse(out);
    },
  };
}
