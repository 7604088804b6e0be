// For src/threads/say/
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "../../../src/client/create-client.ts";
import type { Client, Line, Reply } from "../../../src/client/client.d.ts";
import { startMcpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import type { McpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import { emptyFolder } from "../../support/stores/data-dir.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import type { RedisServer } from "../../support/stores/redis-server.ts";
import { call, hold, lastUserText, say, startModelServer } from "../../support/servers/model-server.ts";
import type { ModelServer, ModelServerRequest } from "../../support/servers/model-server.ts";
import { TEST_KEY } from "../../support/servers/service.ts";
import { openServiceProcess } from "../../support/servers/service-process.ts";
import type { ServiceProcess } from "../../support/servers/service-process.ts";

const USER = { userId: "ada" };
const SOON = { timeout: 20_000, interval: 50 };

let redis: RedisServer;
let model: ModelServer;
let mcp: McpHttpServer;
let env: NodeJS.ProcessEnv;
let instances: [ServiceProcess, ServiceProcess];
let answerTool = (): Promise<void> => Promise.resolve();
let threads = 0;

/** What the model says: it calls a tool where it is asked to cancel, or look, and waits where it is asked to. */
function scripted(request: ModelServerRequest) {
  const { messages } = request.body;
  const said = lastUserText(request);
  const isToolsTurn = messages.at(-1)?.role === "tool";
  if (!isToolsTurn && said.startsWith("Cancel")) return [call("cancel_order", { order: "1001" })];
  if (!isToolsTurn && said.startsWith("Look")) return [call("look", {})];
  return said.startsWith("Wait") ? [say("So far"), hold()] : [say(`Answer to ${said}`)];
}

beforeAll(async () => {
  redis = await startRedis();
  model = await startModelServer(scripted);
  const inputSchema = { type: "object" as const };
  mcp = await startMcpHttpServer(
    [
      [
        { name: "cancel_order", inputSchema },
        { name: "look", inputSchema, annotations: { readOnlyHint: true } },
      ],
    ],
    async ({ name }) => {
      await answerTool();
      return { content: [{ type: "text", text: `${name} did it` }] };
    },
  );
  const dataDir = emptyFolder();
  const file = join(dataDir, "channels.json");
  const mcpServers = { orders: { url: mcp.url } };
  const channels = ["steer", "interrupt"].map((whileRunning) => ({
    slug: whileRunning,
    kind: "transport",
    agent: { mcpServers, whileRunning, tools: { confirm: ["cancel_order"] } },
  }));
  writeFileSync(file, JSON.stringify({ channels }));
  env = {
    CHANNELS_FILE: file,
    DATA_DIR: dataDir,
    HARNESS_API_KEY: TEST_KEY,
    OPENAI_BASE_URL: model.baseUrl,
    OPENAI_API_KEY: "sk-scripted",
    MCP_PRIVATE: "on",
    REDIS_URL: redis.url,
  };
});

beforeEach(async () => {
  answerTool = () => Promise.resolve();
  mcp.calls.length = 0;
  instances = [await openServiceProcess(env), await openServiceProcess(env)];
  return async () => {
    for (const instance of instances) await instance.close();
  };
});

afterAll(async () => {
  await mcp?.close();
  await model?.close();
  await redis?.stop();
  rmSync(env["DATA_DIR"] ?? "", { recursive: true, force: true });
});

/** A client of one instance, and of the other one once that is gone. */
function clientOf(first: 0 | 1, channel = "steer"): Client {
  const urls = [instances[first].url, instances[1 - first]?.url ?? ""];
  let at = 0;
  const send: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    try {
      return await fetch((urls[at % 2] ?? "") + pathname + search, init);
    } catch (error) {
      at += 1;
      throw error;
    }
  };
  return createClient({ baseUrl: "http://service.test", key: TEST_KEY, channel, fetch: send, retries: 60 });
}

async function kill(nth: 0 | 1): Promise<void> {
  instances[nth].kill("SIGKILL");
  await instances[nth].exit;
}

/** The lines of a reply as they come. */
function linesOf(reply: Reply): Line[] {
  const lines: Line[] = [];
  void (async () => {
    for await (const line of reply) lines.push(line);
  })().catch(() => {});
  return lines;
}

/** Also of those who are gone. */
const releaseAll = () => model.release(10);
const newThread = () => ({ ...USER, threadId: `t${++threads}` });
const approvalIn = (lines: readonly Line[]) =>
  lines.flatMap((line) => (line.type === "step" && line.approval ? [line.approval] : [])).at(-1);

async function texts(client: Client, thread: { threadId: string; userId: string }): Promise<string[]> {
  return (await client.history({ ...thread, limit: 100 })).map(({ role, content }) => `${role}: ${content}`);
}

test("a call waits for approval where its instance was killed, is made once that comes, and once", async () => {
  const thread = newThread();
  const reply = clientOf(0).send({ ...thread, text: "Cancel it" });
  const lines = linesOf(reply);
  await expect.poll(() => approvalIn(lines), SOON).toMatchObject({ tool: "cancel_order" });
  const { callId = "" } = approvalIn(lines) ?? {};
  await kill(0);
  const other = clientOf(1);
  await other.approve({ ...thread, callId, approved: true });
  await other.approve({ ...thread, callId, approved: true });
  await expect(other.approve({ ...thread, callId, approved: false })).rejects.toMatchObject({ status: 409 });
  expect(await reply.final).toMatchObject({ type: "done" });
  expect(mcp.calls.map(({ name }) => name)).toEqual(["cancel_order"]);
  expect(await texts(other, thread)).toEqual(["user: Cancel it", "assistant: Answer to Cancel it"]);
});

test("an approved call is not made once more where its instance was killed while it was made", async () => {
  const thread = newThread();
  const reply = clientOf(0).send({ ...thread, text: "Cancel it" });
  const lines = linesOf(reply);
  await expect.poll(() => approvalIn(lines), SOON).toBeDefined();
  answerTool = () => new Promise(() => {});
  const { callId = "" } = approvalIn(lines) ?? {};
  await clientOf(0).approve({ ...thread, callId, approved: true });
  await expect.poll(() => mcp.calls.length, SOON).toBe(1);
  await kill(0);
  expect(await reply.final).toMatchObject({ type: "done" });
  await clientOf(1).approve({ ...thread, callId, approved: true });
  expect(mcp.calls).toHaveLength(1);
  const told = model.requests.at(-1)?.body.messages.at(-1);
  expect(told).toMatchObject({ role: "tool", content: expect.stringContaining("unknown") as string });
});

test("a message that steers is answered once, and so is the one before it, where their instance was killed", async () => {
  const thread = newThread();
  answerTool = () => new Promise(() => {});
  const first = clientOf(0).send({ ...thread, text: "Look for it" });
  await expect.poll(() => mcp.calls.length, SOON).toBe(1);
  const second = clientOf(1).send({ ...thread, text: "Number 7" });
  await expect.poll(() => second.runId, SOON).not.toBeNull();
  answerTool = () => Promise.resolve();
  await kill(0);
  expect([await first.final, await second.final]).toMatchObject([{ type: "done" }, { type: "done" }]);
  const said = await texts(clientOf(1), thread);
  expect(said.filter((text) => text.startsWith("user: "))).toEqual(["user: Look for it", "user: Number 7"]);
  expect(said.filter((text) => text === "assistant: Answer to Number 7")).toHaveLength(1);
  expect(said).toHaveLength(4);
});

test("a message that interrupts is answered once where the instance of the other one was killed", async () => {
  const thread = newThread();
  const first = clientOf(0, "interrupt").send({ ...thread, text: "Wait for me" });
  const lines = linesOf(first);
  await expect.poll(() => lines.length, SOON).toBe(1);
  await kill(0);
  const second = clientOf(1, "interrupt").send({ ...thread, text: "Never mind" });
  expect(await second.final).toMatchObject({ type: "done" });
  expect(await first.final).toMatchObject({ type: "error", code: "superseded" });
  const said = await texts(clientOf(1, "interrupt"), thread);
  expect(said.filter((text) => text === "assistant: Answer to Never mind")).toHaveLength(1);
});

test("a branch is begun once, and its model is told it alone, where its instance was killed", async () => {
  const thread = newThread();
  const client = clientOf(0);
  await client.send({ ...thread, text: "A red mug" }).final;
  const id = "k";
  const other = client.send({ ...thread, text: "Wait: a blue mug", replaces: "1", clientMessageId: id });
  const lines = linesOf(other);
  await expect.poll(() => lines.length, SOON).toBe(1);
  await kill(0);
  const before = model.requests.length;
  await expect.poll(() => model.requests.length, SOON).toBe(before + 1);
  const asked = model.requests.at(-1)?.body.messages;
  expect(asked?.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
    "Wait: a blue mug",
  ]);
  releaseAll();
  expect(await other.final).toMatchObject({ type: "done" });
  const again = clientOf(1).regenerate({ ...thread, messageId: "4", clientMessageId: "again" });
  await expect.poll(() => model.requests.length, SOON).toBe(before + 2);
  releaseAll();
  await again.final;
  expect(await texts(clientOf(1), thread)).toEqual(["user: Wait: a blue mug", "assistant: So far"]);
  expect(await clientOf(1).history({ ...thread, limit: 100, branches: "1" })).toHaveLength(5);
});

test("what the service has its model say is said once where its instance was killed", async () => {
  const thread = newThread();
  const said = { ...thread, instruction: "Greet", clientMessageId: "k" };
  answerTool = () => Promise.resolve();
  const { runId } = await clientOf(0).say(said);
  await kill(0);
  expect(await clientOf(1).say(said)).toEqual({ runId });
  await expect.poll(() => texts(clientOf(1), thread), SOON).toHaveLength(1);
  expect(await clientOf(1).say(said)).toEqual({ runId });
  expect(await texts(clientOf(1), thread)).toHaveLength(1);
});
