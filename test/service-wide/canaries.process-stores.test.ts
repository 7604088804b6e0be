// For src/threads/delete/, src/stores/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { startMcpHttpServer } from "../agent/mcp/mcp-http-server.ts";
import { ORIGIN } from "../http/service.ts";
import { emptyFolder, temporaryFolder } from "../support/stores/data-dir.ts";
import { filesWith } from "../support/house/files-with.ts";
import { freePort } from "../support/servers/free-port.ts";
import { TINY_PNG } from "../support/images.ts";
import {
  bytes,
  call,
  hold,
  lastUserText,
  say,
  startModelServer,
  status,
} from "../support/servers/model-server.ts";
import type { ModelServer, ModelServerRequest } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { ROOMY_LIMITS, TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { runCommand } from "../support/terminal.ts";
import { startReceiver } from "../traces/receiver.ts";
import type { Receiver } from "../traces/receiver.ts";
import { ask as askOnce } from "./clients/ask.ts";
import type { Asking, Got } from "./clients/ask.ts";

/** One word for each place in which somebody's words are kept. */
const OF_THREADS = {
  message: "canary-message-1f0c",
  reply: "canary-reply-77aa",
  arguments: "canary-arguments-3b52",
  result: "canary-result-90de",
  serverArguments: "canary-server-arguments-2ac7",
  serverResult: "canary-server-result-f95b",
  refused: "canary-refused-d13e",
  brokenOff: "canary-broken-off-46c8",
  oddEnd: "canary-odd-end-8e02",
  catalog: "canary-catalog-c4e1",
  context: "canary-context-5d08",
  page: "canary-page-e2b9",
  image: "canary-image-08fb",
  feedback: "canary-feedback-a611",
};
const OF_USERS = { name: "canary-name-64ad", attributes: "canary-attributes-b7c3" };
const WORDS = { ...OF_THREADS, ...OF_USERS };

/** Again while it is 503: the disk of a busy machine may keep a change waiting for longer than its deadline. */
async function ask(url: string, asking: Asking): Promise<Got> {
  for (;;) {
    const got = await askOnce(url, asking);
    if (got.status !== 503) return got;
    await pause(200);
  }
}

/** Longer than a run's record takes: it is kept in parts. */
const LONG = 70_000;

/** A run that is in progress when its thread is deleted. */
const UNDER_WAY = `${OF_THREADS.message} under way`;

function answer(request: ModelServerRequest) {
  const { messages } = request.body;
  const text = lastUserText(request);
  if (text.includes(UNDER_WAY)) return [say(OF_THREADS.reply), hold()];
  const echo = messages.at(-1)?.role === "user" ? echoOf(text) : null;
  if (echo !== null) return echo;
  const said = messages.findLastIndex(({ role }) => role === "user");
  switch (messages.slice(said).filter(({ role }) => role === "tool").length) {
    case 0:
      return [call("look_up", { query: OF_THREADS.arguments })];
    case 1:
      return [call("stock", { query: OF_THREADS.serverArguments })];
    default:
      return [say(`${OF_THREADS.reply} `), say("x".repeat(LONG))];
  }
}

/** Some servers quote what they were asked, in every field of an error, and elsewhere. */
function echoOf(text: string) {
  const error = { message: text, type: text, code: text, param: text };
  const chunk = (what: object) => bytes(`data: ${JSON.stringify(what)}\n\n`);
  if (text.includes(OF_THREADS.refused)) return [status(400, {}, JSON.stringify({ error }))];
  if (text.includes(OF_THREADS.brokenOff)) return [say("I "), chunk({ error })];
  if (!text.includes(OF_THREADS.oddEnd)) return null;
  return [say("Yes"), chunk({ choices: [{ index: 0, delta: {}, finish_reason: text }] })];
}

interface Place {
  env: Record<string, string>;
  /** The words that can be read in it, or in its files. */
  found(): Promise<string[]>;
  close(): Promise<void>;
}

async function openPlace(kind: "embedded" | "redis"): Promise<Place> {
  const dataDir = emptyFolder();
  const inFiles = (folder: string) =>
    Object.entries(WORDS).flatMap(([name, word]) => (filesWith(folder, word).length > 0 ? [name] : []));
  if (kind === "embedded") {
    return { env: { DATA_DIR: dataDir }, found: async () => inFiles(dataDir), close: async () => {} };
  }
  // Else its file would hold them compressed.
  const plain = ["--appendfsync", "always", "--aof-use-rdb-preamble", "no"];
  const redis = await startRedis({ args: plain });
  return {
    env: { DATA_DIR: dataDir, REDIS_URL: redis.url },
    // Whatever is in its memory is in its file, too: a rewritten one is written from the memory.
    found: async () => [...new Set([...inFiles(redis.dir), ...inFiles(dataDir)])],
    close: () => redis.stop(),
  };
}

async function succeed(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(env, args);
  if (code !== 0) throw new Error(`Cannot run ${args.join(" ")}: ${err}`);
  return out;
}

/** What a page asks of the widget's API. */
function post(url: string, path: string, headers: Record<string, string>, body?: object): Promise<Got> {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const sent = {
    method: "POST",
    path: `/v1/widget/${path}`,
    headers: { origin: ORIGIN, ...headers, ...json },
  };
  return ask(url, { ...sent, ...(body ? { body: JSON.stringify(body) } : {}) });
}

/** A visitor's conversation with everything in it that a thread can keep. */
async function converse(url: string) {
  const minted = await post(url, "visitors", { "x-publishable-key": "pk_shop" });
  const { visitorToken } = minted.json() as { visitorToken: string };
  const send = (path: string, body: object) => post(url, path, { "x-visitor-token": visitorToken }, body);
  const { threadId } = (await send("threads", {})).json() as { threadId: string };
  const tool = { name: "look_up", description: OF_THREADS.catalog, inputSchema: { type: "object" } };
  expect((await send("tools", { threadId, webmcpTools: [tool] })).status).toBe(204);
  const where = { page: `/cart?q=${OF_THREADS.page}`, customerContext: { cart: OF_THREADS.context } };
  const attachments = [{ url: TINY_PNG, name: OF_THREADS.image }];
  const say = (text: string, more = {}) => send("messages", { threadId, text, ...where, ...more });
  const asked = (await say(OF_THREADS.message, { attachments })).lines().at(-1);
  if (asked?.type !== "tool_call") throw new Error(`Cannot go on: ${JSON.stringify(asked)}`);
  const result = { threadId, callId: asked.callId, tool: "look_up", result: OF_THREADS.result };
  expect((await send("tool-results", result)).lines().at(-1)).toMatchObject({ type: "done" });
  const headers = { origin: ORIGIN, "x-visitor-token": visitorToken };
  const history = await ask(url, { path: `/v1/widget/threads/${threadId}/messages`, headers });
  const { items } = history.json() as { items: { id: string; role: string }[] };
  const messageId = items.findLast(({ role }) => role === "assistant")?.id;
  const rating = { messageId, rating: "down", comment: OF_THREADS.feedback };
  expect((await send(`threads/${threadId}/feedback`, rating)).status).toBe(204);
  for (const text of [OF_THREADS.refused, OF_THREADS.brokenOff]) {
    expect((await say(text)).lines().at(-1)?.type).toBe("error");
  }
  expect((await say(OF_THREADS.oddEnd)).lines().at(-1)?.type).toBe("done");
  return { threadId, visitorToken, send };
}

/** A run that has begun to reply ends with its thread. */
async function deleteUnderWay({ send }: Awaited<ReturnType<typeof converse>>, model: ModelServer) {
  const { threadId } = (await send("threads", {})).json() as { threadId: string };
  const said = send("messages", { threadId, text: UNDER_WAY });
  await model.held();
  expect((await send(`threads/${threadId}/delete`, {})).status).toBe(204);
  expect((await said).lines().at(-1)).toMatchObject({ type: "error", code: "deleted" });
}

function wordsIn(text: string): string[] {
  return Object.entries(WORDS).flatMap(([name, word]) => (text.includes(word) ? [name] : []));
}

/** What the spans so far tell of anybody: the attributes, and then whatever else was sent. */
function tellingIn(receiver: Receiver): string[] {
  const telling = receiver.spans.flatMap(({ name, attributes }) =>
    Object.entries({ ...attributes, name }).flatMap(([key, value]) =>
      JSON.stringify(value).includes("canary") ? [`${name}: ${key}`] : [],
    ),
  );
  return telling.length === 0 && receiver.bytes().includes("canary") ? ["elsewhere"] : telling;
}

test.each(inject("stores"))(
  "what was deleted is nowhere after a kill -9 and a compaction, and in no restored backup, on the %s store",
  async (kind) => {
    const [place, restored] = [await openPlace(kind), await openPlace(kind)];
    onTestFinished(async () => void (await Promise.all([place.close(), restored.close()])));
    const model = await startModelServer(answer);
    const mcp = await startMcpHttpServer(
      [[{ name: "stock", inputSchema: { type: "object" } }]],
      async () => ({
        content: [{ type: "text", text: OF_THREADS.serverResult }],
      }),
    );
    onTestFinished(async () => void (await Promise.all([model.close(), mcp.close()])));
    const receiver = await startReceiver();
    const folder = temporaryFolder();
    const CHANNELS_FILE = join(folder, "channels.json");
    // Nobody is there: what webhooks are to be told of stays in the outbox.
    const url = `http://127.0.0.1:${await freePort()}/`;
    const webhooks = [{ url, secret: `whsec_${Buffer.alloc(24, 1).toString("base64")}` }];
    const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: "sk_shop_secret" };
    const agent = { images: true, mcpServers: { warehouse: { url: mcp.url } } };
    writeFileSync(
      CHANNELS_FILE,
      JSON.stringify({ channels: [{ ...shop, allowedOrigins: [ORIGIN], agent, webhooks }] }),
    );
    const env = {
      ...place.env,
      CHANNELS_FILE,
      HARNESS_API_KEY: TEST_KEY,
      OPENAI_BASE_URL: model.baseUrl,
      WEBHOOKS_PRIVATE: "on",
      LOG_LEVEL: "trace",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: "20",
      ...ROOMY_LIMITS,
    };
    const service = await startServiceProcess(env);
    const added = await succeed(env, "operators", "add", "ops", "--role", "admin", "--json");
    const operator = JSON.parse(added) as { key: string };
    const said = await converse(service.url);
    const account = await converse(service.url);
    await deleteUnderWay(said, model);
    const asOperator = (at: string, method: string, path: string, body?: object) => {
      const json = body === undefined ? {} : { "content-type": "application/json" };
      const headers = { authorization: `Bearer ${operator.key}`, ...json };
      const sent = { method, path: `/v1/operator/channels/shop${path}`, headers };
      return ask(at, { ...sent, ...(body ? { body: JSON.stringify(body) } : {}) });
    };
    const identified = await ask(service.url, {
      method: "POST",
      path: "/v1/channels/shop/identify",
      headers: { authorization: "Bearer sk_shop_secret", "content-type": "application/json" },
      body: JSON.stringify({
        visitorToken: account.visitorToken,
        externalUserId: "kim",
        attributes: { plan: OF_USERS.attributes },
      }),
    });
    expect(identified.status).toBe(200);
    const isKnown = async () => (await asOperator(service.url, "GET", "/threads")).status;
    await expect.poll(isKnown, { timeout: 30_000 }).toBe(200);
    const found = (await asOperator(service.url, "GET", "/threads")).json() as {
      items: { id: string; threadId: string; userId: string }[];
    };
    const [thread, theirs] = [said, account].map(({ threadId }) =>
      found.items.find((one) => one.threadId === threadId),
    );
    const named = { displayName: OF_USERS.name };
    expect((await asOperator(service.url, "PATCH", `/users/${theirs?.userId}`, named)).status).toBe(200);
    // The test can see.
    expect((await place.found()).toSorted()).toEqual(Object.keys(WORDS).toSorted());
    // What comes last of the conversations: all before it has been sent.
    const ends = () => receiver.spans.map(({ attributes }) => attributes["chat_agent.segment.end"]);
    await expect.poll(ends).toContain("deleted");
    expect(receiver.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["execute_tool look_up", "execute_tool stock", "POST /v1/widget/messages"]),
    );
    expect(receiver.spans.filter(({ attributes }) => "error.type" in attributes).length).toBeGreaterThan(3);
    expect(tellingIn(receiver)).toEqual([]);
    const [backup, deletions] = [join(folder, "backup"), join(folder, "deletions")];
    await succeed(env, "store", "backup", backup);

    const deleted = await Promise.all([
      asOperator(service.url, "DELETE", `/threads/${thread?.id}`),
      asOperator(service.url, "DELETE", `/users/${theirs?.userId}`),
    ]);
    service.kill("SIGKILL");
    expect(deleted.map(({ status }) => status)).toEqual([202, 202]);
    await service.exit;
    // What the model's server says of an error is in the log, whatever it quotes.
    expect(wordsIn([...service.output.stdout, service.output.stderr].join("\n"))).toEqual([
      "refused",
      "brokenOff",
    ]);

    await succeed(env, "store", "compact");
    expect(await place.found()).toEqual([]);
    // Nothing that was on its way brings it back, once somebody looks again.
    const again = await startServiceProcess(env);
    expect((await asOperator(again.url, "GET", `/threads/${thread?.id}`)).status).toBe(404);
    expect((await asOperator(again.url, "GET", `/users/${theirs?.userId}`)).status).toBe(404);
    const late = { threadId: said.threadId, text: OF_THREADS.message };
    const headers = { "x-visitor-token": said.visitorToken };
    expect((await post(again.url, "messages", headers, late)).status).toBe(404);
    again.kill("SIGTERM");
    expect(await again.exit).toBe(0);
    expect(wordsIn([...again.output.stdout, again.output.stderr].join("\n"))).toEqual([]);
    const answered = receiver.spans.map(({ attributes }) => attributes["http.response.status_code"]);
    expect(answered).toContain(404);
    expect(tellingIn(receiver)).toEqual([]);
    await succeed(env, "store", "compact");
    expect(await place.found()).toEqual([]);

    await succeed(env, "store", "deletions", deletions);
    await succeed({ ...env, ...restored.env }, "store", "restore", backup, "--deletions", deletions);
    expect(filesWith(folder, OF_THREADS.message)).toEqual([]);
    expect(await restored.found()).toEqual([]);
  },
);
