import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/clock.ts";
import type { Clock } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import type { Channel } from "../../src/domain/channel.ts";
import type { Listener } from "../../src/listener.ts";
import { createLog } from "../../src/log.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import { Secret } from "../../src/secret.ts";
import { startService } from "../../src/service.ts";
import type { Service } from "../../src/service.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { ORIGIN, cli, other, shop } from "../http/service.ts";
import { sampleChannel } from "../stores/samples.ts";
import { startModelServer } from "../support/model-server.ts";
import type { ModelServer, Script } from "../support/model-server.ts";
import { TEST_KEY } from "../support/service.ts";
import { ask } from "./ask.ts";
import type { Asking, Got } from "./ask.ts";

export const LISTENERS: readonly Listener["kind"][] = ["uws", "node"];

export const closed = sampleChannel({
  slug: "closed",
  publishableKey: "pk_closed",
  allowedOrigins: ["https://closed.example"],
  enabled: false,
});

/** More than any test here sends. */
const NO_LIMITS = {
  WIDGET_MESSAGES_PER_MINUTE: "100000",
  WIDGET_IP_MESSAGES_PER_MINUTE: "100000",
  WIDGET_TOOL_RESULTS_PER_MINUTE: "100000",
  WIDGET_THREADS_PER_HOUR: "100000",
  WIDGET_VISITORS_PER_HOUR_PER_IP: "100000",
};

/** A whole service on real sockets: listener, HTTP, threads, store and model client; only the model's far end is played. */
export interface Whole extends Service {
  model: ModelServer;
  logged: string[];
  ask(asking: Asking): Promise<Got>;
  /** POST with a JSON body and the transport key. */
  transport(path: string, body: unknown): Promise<Got>;
  /** With the origin of `shop` and a visitor's token; a JSON body where there is one. */
  visitor(token: string, method: string, path: string, body?: unknown): Promise<Got>;
  newToken(): Promise<string>;
  newThread(token: string): Promise<string>;
  close(): Promise<void>;
}

export async function openWhole(options: {
  listener?: Listener["kind"];
  env?: Record<string, string>;
  script?: Script;
  /** Stays open, and is its giver's to close. */
  store?: Store;
  clock?: Clock;
  channels?: Channel[];
}): Promise<Whole> {
  const { listener = "uws", env = {}, clock = systemClock, channels = [] } = options;
  const config = { ...readConfig({ ...NO_LIMITS, LISTENER: listener, ...env }), port: 0 };
  const dataDir = mkdtempSync(join(tmpdir(), "chat-agent-"));
  const store = options.store ?? (await openEmbeddedStore({ dataDir, clock }));
  for (const channel of [shop, other, cli, closed, ...channels]) await store.putChannel(channel);
  const played = await startModelServer(options.script);
  const model = openOpenAi({ apiKey: "sk-model", baseUrl: played.baseUrl, silenceMs: 30_000 });
  const logged: string[] = [];
  const log = createLog({
    level: "info",
    secrets: [],
    destination: { write: (line) => void logged.push(line) },
  });
  const harnessApiKey = new Secret(TEST_KEY);
  const service = await startService({ config, harnessApiKey, store, model, clock, log });

  const asked = (asking: Asking) => ask(service.url, asking);
  const json = { "content-type": "application/json" };
  const visitor: Whole["visitor"] = (token, method, path, body) =>
    asked({
      method,
      path: `/v1/widget/${path}`,
      headers: { origin: ORIGIN, "x-visitor-token": token, ...(body === undefined ? {} : json) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  return {
    ...service,
    inFlight: () => service.inFlight(),
    model: played,
    logged,
    ask: asked,
    visitor,
    transport: (path, body) =>
      asked({
        method: "POST",
        path,
        headers: { authorization: `Bearer ${TEST_KEY}`, ...json },
        body: JSON.stringify(body),
      }),
    async newToken() {
      const headers = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
      const got = await asked({ method: "POST", path: "/v1/widget/visitors", headers });
      return String((got.json() as { visitorToken: string }).visitorToken);
    },
    async newThread(token) {
      return String(((await visitor(token, "POST", "threads")).json() as { threadId: string }).threadId);
    },
    async close() {
      await service.stop(0);
      await model.close();
      await played.close();
      if (options.store === undefined) await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
