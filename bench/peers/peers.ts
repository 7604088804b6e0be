import { post } from "../rig/connection.ts";
import type { IsFirst } from "../rig/connection.ts";

/** An alternative to the service, in its own folder next to this file, with the least code that does the job. */
export interface Peer {
  /** Its folder. */
  folder: string;
  name: string;
  /** `own`: the Node that it brings; `ours`: the one that runs the service. */
  node: "own" | "ours";
  /** True: it stores conversations in Redis; else in a store of its own. */
  usesRedis: boolean;
  request(port: number, thread: string, text: string): string;
  isFirst: IsFirst;
  textOf(body: Buffer): string;
}

const byHand: Peer = {
  folder: "by-hand",
  name: "by hand, Node 24",
  node: "own",
  usesRedis: true,
  request: chat,
  isFirst: (part) => part.includes('"delta"'),
  textOf: textOfLines,
};

const [major] = process.versions.node.split(".");
const byHandHere: Peer = { ...byHand, name: `by hand, Node ${major}`, node: "ours" };

const aiSdk: Peer = {
  folder: "fastify-ai-sdk",
  name: "Fastify and AI SDK",
  node: "own",
  usesRedis: true,
  request: chat,
  isFirst: (part) => part.includes('"text-delta"'),
  textOf: (body) => joined(body, /^data: (\{"type":"text-delta".*\})$/gm, (event) => text(event["delta"])),
};

const mastra: Peer = {
  folder: "mastra",
  name: "Mastra",
  node: "own",
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
  name: "LangGraph",
  node: "own",
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
    joined(body, /^data: (\[\{"content".*\])$/gm, (event) =>
      text(record(Object.values(event)[0])["content"]),
    ),
};

const restate: Peer = {
  folder: "restate",
  name: "Restate",
  node: "own",
  usesRedis: false,
  request: chat,
  isFirst: (part) => part.includes('"delta"'),
  textOf: textOfLines,
};

export const peers: readonly Peer[] = [
  byHand,
  ...(major === "24" ? [] : [byHandHere]),
  aiSdk,
  mastra,
  langGraph,
  restate,
];

/** The request to the servers that are written here. */
function chat(port: number, threadId: string, said: string): string {
  return post({ port, path: "/chat", headers: {}, body: { threadId, text: said } });
}

/** The text of a complete NDJSON body, which its last line confirms. */
function textOfLines(body: Buffer): string {
  const lines = body
    .toString()
    .trim()
    .split("\n")
    .map((line) => record(JSON.parse(line)));
  return lines.at(-1)?.["type"] === "done" ? lines.map((line) => text(line["text"])).join("") : "";
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

/** LangGraph needs UUIDs: the thread's name, as the digits of one. */
function uuidOf(thread: string): string {
  const hex = Buffer.from(thread).toString("hex").slice(-32).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, "$1-$2-4$3-8$4-$5");
}
