import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, inject, onTestFinished, test } from "vitest";
import { ORIGIN } from "../http/service.ts";
import { emptyFolder, temporaryFolder } from "../support/data-dir.ts";
import { filesWith } from "../support/files-with.ts";
import { freePort } from "../support/free-port.ts";
import { TINY_PNG } from "../support/images.ts";
import { call, say, startModelServer } from "../support/model-server.ts";
import type { ModelServerRequest } from "../support/model-server.ts";
import { startRedis } from "../support/redis-server.ts";
import { ROOMY_LIMITS, TEST_KEY } from "../support/service.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { runCommand } from "../support/terminal.ts";
import { ask as askOnce } from "./ask.ts";
import type { Asking, Got } from "./ask.ts";

/** One word for each place in which somebody's words are kept. */
const OF_THREADS = {
  message: "canary-message-1f0c",
  reply: "canary-reply-77aa",
  arguments: "canary-arguments-3b52",
  result: "canary-result-90de",
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

function answer({ body: { messages } }: ModelServerRequest) {
  if (messages.at(-1)?.role !== "tool") return [call("look_up", { query: OF_THREADS.arguments })];
  return [say(`${OF_THREADS.reply} `), say("x".repeat(LONG))];
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

/** A visitor's conversation with everything in it that a thread can keep. */
async function converse(url: string) {
  const widget = async (path: string, headers: Record<string, string>, body?: object) => {
    const json = body === undefined ? {} : { "content-type": "application/json" };
    const sent = {
      method: "POST",
      path: `/v1/widget/${path}`,
      headers: { origin: ORIGIN, ...headers, ...json },
    };
    return ask(url, { ...sent, ...(body ? { body: JSON.stringify(body) } : {}) });
  };
  const minted = await widget("visitors", { "x-publishable-key": "pk_shop" });
  const { visitorToken } = minted.json() as { visitorToken: string };
  const send = (path: string, body: object) => widget(path, { "x-visitor-token": visitorToken }, body);
  const { threadId } = (await send("threads", {})).json() as { threadId: string };
  const tool = { name: "look_up", description: OF_THREADS.catalog, inputSchema: { type: "object" } };
  expect((await send("tools", { threadId, webmcpTools: [tool] })).status).toBe(204);
  const said = {
    text: OF_THREADS.message,
    page: `/cart?q=${OF_THREADS.page}`,
    customerContext: { cart: OF_THREADS.context },
    attachments: [{ url: TINY_PNG, name: OF_THREADS.image }],
  };
  const asked = (await send("messages", { threadId, ...said })).lines().at(-1);
  if (asked?.type !== "tool_call") throw new Error(`Cannot go on: ${JSON.stringify(asked)}`);
  const result = { threadId, callId: asked.callId, tool: "look_up", result: OF_THREADS.result };
  expect((await send("tool-results", result)).lines().at(-1)).toMatchObject({ type: "done" });
  const headers = { origin: ORIGIN, "x-visitor-token": visitorToken };
  const history = await ask(url, { path: `/v1/widget/threads/${threadId}/messages`, headers });
  const { items } = history.json() as { items: { id: string; role: string }[] };
  const messageId = items.findLast(({ role }) => role === "assistant")?.id;
  const rating = { messageId, rating: "down", comment: OF_THREADS.feedback };
  expect((await send(`threads/${threadId}/feedback`, rating)).status).toBe(204);
  return { threadId, visitorToken };
}

test.each(inject("stores"))(
  "what was deleted is nowhere after a kill -9 and a compaction, and in no restored backup, on the %s store",
  async (kind) => {
    const [place, restored] = [await openPlace(kind), await openPlace(kind)];
    onTestFinished(async () => void (await Promise.all([place.close(), restored.close()])));
    const model = await startModelServer(answer);
    onTestFinished(() => model.close());
    const folder = temporaryFolder();
    const CHANNELS_FILE = join(folder, "channels.json");
    // Nobody is there: what webhooks are to be told of stays in the outbox.
    const url = `http://127.0.0.1:${await freePort()}/`;
    const webhooks = [{ url, secret: `whsec_${Buffer.alloc(24, 1).toString("base64")}` }];
    const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: "sk_shop_secret" };
    const agent = { images: true };
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
      ...ROOMY_LIMITS,
    };
    const service = await startServiceProcess(env);
    const added = await succeed(env, "operators", "add", "ops", "--role", "admin", "--json");
    const operator = JSON.parse(added) as { key: string };
    const said = await converse(service.url);
    const account = await converse(service.url);
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
    const [backup, deletions] = [join(folder, "backup"), join(folder, "deletions")];
    await succeed(env, "store", "backup", backup);

    const deleted = await Promise.all([
      asOperator(service.url, "DELETE", `/threads/${thread?.id}`),
      asOperator(service.url, "DELETE", `/users/${theirs?.userId}`),
    ]);
    service.kill("SIGKILL");
    expect(deleted.map(({ status }) => status)).toEqual([202, 202]);
    await service.exit;
    expect([...service.output.stdout, service.output.stderr].join("\n")).not.toContain("canary");

    await succeed(env, "store", "compact");
    expect(await place.found()).toEqual([]);
    // Nothing that was on its way brings it back, once somebody looks again.
    const again = await startServiceProcess(env);
    expect((await asOperator(again.url, "GET", `/threads/${thread?.id}`)).status).toBe(404);
    expect((await asOperator(again.url, "GET", `/users/${theirs?.userId}`)).status).toBe(404);
    again.kill("SIGKILL");
    await again.exit;
    expect([...again.output.stdout, again.output.stderr].join("\n")).not.toContain("canary");
    await succeed(env, "store", "compact");
    expect(await place.found()).toEqual([]);

    await succeed(env, "store", "deletions", deletions);
    await succeed({ ...env, ...restored.env }, "store", "restore", backup, "--deletions", deletions);
    expect(filesWith(folder, OF_THREADS.message)).toEqual([]);
    expect(await restored.found()).toEqual([]);
  },
);
