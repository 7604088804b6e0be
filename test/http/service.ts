import { onTestFinished } from "vitest";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { nobody } from "../../src/threads/dependencies.ts";
import { createThreads } from "../../src/threads/threads.ts";
import { createVisitors } from "../../src/visitors/visitors.ts";
import { createDirectory } from "../../src/admission/directory.ts";
import { createKeyDoor } from "../../src/admission/key-door.ts";
import { createRateWindows } from "../../src/admission/rate-windows.ts";
import { systemTimers } from "../../src/clock.ts";
import { readConfig } from "../../src/config.ts";
import type { Channel } from "../../src/domain/channels/channel.ts";
import { handOffOf } from "../../src/domain/threads/hand-off.ts";
import { newId } from "../../src/domain/ids.ts";
import { createKnowledge, withKnowledge } from "../../src/knowledge/create-knowledge.ts";
import { createHandler } from "../../src/http/handler.ts";
import type { AnsweredRequest, HandlerDependencies } from "../../src/http/handler.ts";
import { openApiDocument } from "../../src/http/reference/openapi.ts";
import type { Route } from "../../src/http/route.ts";
import { apiRoutes } from "../../src/http/routes.ts";
import type { HttpAnswer, HttpRequest } from "../../src/listener.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import { Secret } from "../../src/secret.ts";
import type { Store } from "../../src/store.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { createScriptedAgent } from "../threads/scripted-agent.ts";
import type { ScriptedAgent } from "../threads/scripted-agent.ts";
import { sampleChannel } from "../stores/samples.ts";
import { encryptedForAnybodyInFull } from "../support/stores/content-keys.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { endpointFor } from "./described.ts";
import type { Described } from "./described.ts";

/** The HTTP layer over real parts: store, threads, visitors and admission; only the agent is played, and time is set. */
export interface Service {
  routes: Route[];
  store: Store;
  agent: ScriptedAgent;
  clock: { nowMs: number };
  answered: AnsweredRequest[];
  /** Everything that was logged, as text. */
  logged: string[];
  renew: () => Promise<void>;
  /** Begins to stop. */
  drain: () => Promise<void>;
  ask: (request: Partial<Sent>) => Promise<Got>;
  /** POST on the widget API with a JSON body. */
  post: (path: string, body: unknown, more?: Partial<Sent>) => Promise<Got>;
  newToken: (more?: Partial<Sent>) => Promise<string>;
  newThread: (token: string, more?: Partial<Sent>) => Promise<string>;
}

export interface Sent {
  method: string;
  path: string;
  query: string;
  headers: Record<string, string>;
  body: string | Uint8Array;
  address: string;
  contentLength: number | null;
}

export interface Got {
  status: number;
  headers: Record<string, string>;
  /** The whole body; of a stream, once it has ended. */
  text(): Promise<string>;
  json(): Promise<unknown>;
  lines(): Promise<Record<string, unknown>[]>;
  /** Of a stream that goes on: the lines so far, and whether it has ended. */
  soFar(): Record<string, unknown>[];
  /** The body so far, as it is. */
  bytesSoFar(): string;
  isEnded(): boolean;
  /** The client goes away. */
  leave(): void;
}

export const ORIGIN = "https://shop.example";
export const TRANSPORT_KEY = "transport-key-of-this-test";
export const SECRET_KEY = "sk_shop_secret";

export function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

export const shop = sampleChannel({ secretKeyHash: hashOf(SECRET_KEY), agent: {} });
export const other = sampleChannel({
  slug: "other",
  publishableKey: "pk_other",
  secretKeyHash: hashOf("sk_other"),
  allowedOrigins: ["https://other.example"],
  agent: {},
});
export const cli: Channel = {
  ...sampleChannel({ slug: "cli", kind: "transport", agent: {} }),
  publishableKey: null,
  secretKeyHash: null,
  allowedOrigins: [],
};

/** Made once for all services: it takes a while, and is made of the routes' schemas alone. */
let described: Described | null = null;

export async function startService(
  env: Record<string, string> = {},
  more: Partial<HandlerDependencies> = {},
): Promise<Service> {
  const config = readConfig({ ...env });
  const time = { nowMs: Date.UTC(2026, 10, 21, 12, 0, 5) };
  const clock = { now: () => time.nowMs, elapsed: () => performance.now() };
  const store = await openEmbeddedStore({ dataDir: temporaryFolder(), clock, ...encryptedForAnybodyInFull });
  onTestFinished(() => store.close());
  for (const channel of [shop, other, cli]) await store.putChannel(channel);

  const logged: string[] = [];
  const note = (fields: object, text: string) => {
    const { err, ...rest } = fields as { err?: unknown };
    logged.push(`${text} ${JSON.stringify(rest)} ${err instanceof Error ? err.message : ""}`);
  };
  const log = { info: note, warn: note, error: note };
  const agent = createScriptedAgent();
  const directory = createDirectory({ store, log, clock });
  const threads = createThreads({
    handOff: (slug) => handOffOf(directory.lastRead(slug)?.handoff),
    store,
    agent,
    clock,
    timers: systemTimers,
    newId,
    log,
    observer: nobody,
    limits: {
      runTimeoutMs: 60_000,
      runMaxToolCalls: 5,
      toolResultTimeoutMs: 60_000,
      runMaxReplyChars: 100_000,
      threadQueueMax: 1,
      historyBudgetChars: 100_000,
    },
  });
  await directory.start();
  onTestFinished(() => directory.stop());
  const answered: AnsweredRequest[] = [];

  const parts: HandlerDependencies = {
    config,
    transportKeys: [config.harnessApiKey ?? new Secret(TRANSPORT_KEY), ...config.olderApiKeys],
    keyDoor: createKeyDoor({ config, clock, log }),
    store,
    threads,
    visitors: createVisitors({ store, clock, ttlMs: config.visitorTtlMs, maxAgeMs: config.visitorMaxAgeMs }),
    directory,
    windows: createRateWindows({ limits: config.limits, clock }),
    clock,
    log,
    knowledge: createKnowledge({
      store: store.knowledge!,
      channels: () => directory.channels().flatMap(withKnowledge),
      reads: () => false,
      open: () => Promise.reject(new Error("No channel has documents here")),
      timers: systemTimers,
      log,
    }),
    agent,
    health: { model: "demo" },
    onAnswered: (one) => void answered.push(one),
    ...more,
  };
  const handler = createHandler(parts);
  const routes = apiRoutes(parts);
  described ??= openApiDocument(routes) as Described;
  const description = described;

  const ask = async (sent: Partial<Sent>) => {
    const request = requestFrom(sent);
    const got = gotFrom(await handler(request));
    mustBeDocumented(description, request, got.status);
    return got;
  };
  const post: Service["post"] = (path, body, sent = {}) =>
    ask({
      method: "POST",
      path,
      body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body),
      ...sent,
      headers: { origin: ORIGIN, "content-type": "application/json", ...sent.headers },
    });
  return {
    routes,
    store,
    agent,
    clock: time,
    answered,
    logged,
    renew: () => directory.renew(),
    drain: () => threads.drain(0),
    ask,
    post,
    async newToken(sent = {}) {
      const got = await post("/v1/widget/visitors", "", {
        ...sent,
        headers: { "x-publishable-key": "pk_shop", ...sent.headers },
      });
      return String(((await got.json()) as { visitorToken: string }).visitorToken);
    },
    async newThread(token, sent = {}) {
      const got = await post("/v1/widget/threads", "", {
        ...sent,
        headers: { "x-visitor-token": token, ...sent.headers },
      });
      return String(((await got.json()) as { threadId: string }).threadId);
    },
  };
}

/** Whatever a test provokes, the description told of: every status but that of a bug. */
function mustBeDocumented(described: Described, request: HttpRequest, status: number): void {
  const endpoint = endpointFor(described, request);
  // 431 is of every path, and no endpoint's own.
  if (!endpoint || status === 500 || status === 431 || String(status) in endpoint.operation.responses) return;
  // A path whose values are no ids is no path of the API.
  if (status === 404 && !/^[\w/-]*$/.test(request.path)) return;
  throw new Error(
    `Cannot find status ${status} of ${request.method} ${endpoint.path} in the API's description`,
  );
}

export function requestFrom(sent: Partial<Sent>): HttpRequest {
  const body = Buffer.from(sent.body ?? "");
  return {
    method: sent.method ?? "GET",
    path: sent.path ?? "/",
    query: sent.query ?? "",
    headers: new Map(Object.entries(sent.headers ?? {})),
    address: sent.address ?? "192.0.2.1",
    contentLength: sent.contentLength === undefined ? body.length : sent.contentLength,
    async body(limitBytes) {
      if (body.length > limitBytes) throw new Refusal("too-large");
      return body;
    },
  };
}

function gotFrom(answer: HttpAnswer): Got {
  const chunks: Buffer[] = [];
  let isEnded = false;
  let onGone = () => {};
  const whole = new Promise<void>((resolve) => {
    if (!answer.stream) {
      chunks.push(Buffer.from(answer.body ?? ""));
      resolve();
      return;
    }
    let pulled = (): void => {};
    answer.stream({
      write(chunk) {
        chunks.push(Buffer.from(chunk as string));
        setImmediate(pulled);
      },
      pull(next) {
        pulled = next;
        next();
      },
      cut() {},
      end(chunk) {
        if (chunk !== undefined) chunks.push(Buffer.from(chunk as string));
        isEnded = true;
        resolve();
      },
      onDrained: (callback) => void setImmediate(callback),
      onGone: (callback) => void (onGone = callback),
    });
  });
  const decoded = () => {
    const bytes = Buffer.concat(chunks);
    return answer.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
  };
  const text = async () => {
    await whole;
    return decoded().toString("utf8");
  };
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: async () => JSON.parse(await text()) as unknown,
    lines: async () => linesOf(await text()),
    soFar: () => linesOf(Buffer.concat(chunks).toString("utf8")),
    bytesSoFar: () => decoded().toString("utf8"),
    isEnded: () => isEnded,
    leave: () => onGone(),
  };
}

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
