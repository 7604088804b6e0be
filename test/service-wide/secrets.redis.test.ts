// For src/secret.ts, src/log.ts, src/errors.ts
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ORIGIN } from "../http/service.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { freePort } from "../support/servers/free-port.ts";
import { bytes, cut, reset, startModelServer, status } from "../support/servers/model-server.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { spawnCommand, startServiceProcess } from "../support/servers/service-process.ts";
import { ask } from "./clients/ask.ts";
import type { Asking } from "./clients/ask.ts";

/** Values that must be seen nowhere but where they are sent. */
const canaries = {
  transportKey: "canary-transport-7f3a9c1e",
  secretKey: "sk_canary_secret_51d0be",
  modelKey: "canary-model-key-0a66f2",
  redisPassword: "canary-redis-password-98d4",
  openIdSecret: "canary-openid-secret-b1c7",
  webhookSecret: `whsec_${Buffer.from("canary-webhook-secret-4e2a").toString("base64")}`,
};

function found(text: string, sought: Record<string, string>): string[] {
  return Object.entries(sought)
    .filter(([, value]) => text.includes(value))
    .map(([name]) => name);
}

/** Everything that Redis wrote down: its append-only file holds every change ever made. */
function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

/** A model server that answers with the key that it was sent, in every way in which it can go wrong. */
function echoingFaults() {
  return startModelServer((request, nth) => {
    const key = request.headers.authorization ?? "";
    const faults = [
      [status(401, {}, JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }))],
      [status(500, { "x-echo": key }, `<html>${key}</html>`)],
      [bytes(`data: {"error":{"message":"${key}"}}\n\n`), cut()],
      [bytes(`data: ${key}\n\n`), reset()],
    ];
    return faults[nth % faults.length] ?? "";
  });
}

test("P15: no key, password or token leaves the process: not in its log, its answers, its greeting or its store", async () => {
  const redis = await startRedis({ args: ["--requirepass", canaries.redisPassword] });
  const model = await echoingFaults();
  const dataDir = temporaryFolder();
  const CHANNELS_FILE = join(dataDir, "channels.json");
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: "$SHOP_SECRET" };
  // Nobody listens there: each delivery fails, and so does each sign-in.
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  const webhooks = [{ url: `${nowhere}/webhooks`, secret: "$SHOP_WEBHOOKS" }];
  const channels = [
    { ...shop, allowedOrigins: [ORIGIN], webhooks },
    { slug: "cli", kind: "transport" },
  ];
  writeFileSync(CHANNELS_FILE, JSON.stringify({ channels }));
  const service = await startServiceProcess({
    DATA_DIR: dataDir,
    CHANNELS_FILE,
    SHOP_SECRET: canaries.secretKey,
    SHOP_WEBHOOKS: canaries.webhookSecret,
    WEBHOOKS_PRIVATE: "on",
    OIDC_ISSUER: nowhere,
    OIDC_CLIENT_ID: "console",
    OIDC_CLIENT_SECRET: canaries.openIdSecret,
    OIDC_ROLES_CLAIM: "roles",
    HARNESS_API_KEY: canaries.transportKey,
    OPENAI_API_KEY: canaries.modelKey,
    OPENAI_BASE_URL: model.baseUrl,
    REDIS_URL: `redis://:${canaries.redisPassword}@127.0.0.1:${redis.port}`,
    LOG_LEVEL: "trace",
  });
  const answers: string[] = [];
  const send = async (asking: Asking) => {
    const got = await ask(service.url, asking);
    answers.push(`${got.status} ${JSON.stringify(got.headers)} ${got.text}`);
    return got;
  };
  const server = (path: string, key: string, body: object) =>
    send({
      method: "POST",
      path,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const page = { origin: ORIGIN, "x-publishable-key": "pk_shop" };
  const minted = await ask(service.url, { method: "POST", path: "/v1/widget/visitors", headers: page });
  const { visitorToken } = minted.json() as { visitorToken: string };
  const secrets = { ...canaries, visitorToken };
  const widget = (path: string, body: object, token = visitorToken) =>
    send({
      method: "POST",
      path: `/v1/widget/${path}`,
      headers: { origin: ORIGIN, "x-visitor-token": token, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  /** Every route, well and badly asked, each credential also where another one belongs. */
  async function everything(): Promise<void> {
    const { transportKey, secretKey } = canaries;
    for (const threadId of ["1", "2", "3", "4"]) {
      await server("/v1/messages", transportKey, { threadId, userId: "u", text: "x" });
    }
    for (const path of [
      "/health",
      "/swagger",
      "/swagger/openapi.json",
      "/metrics",
      "/nowhere",
      "/console",
      "/console/sign-in",
    ]) {
      await send({ path });
    }
    await send({ path: "/metrics", headers: { authorization: `Bearer ${transportKey}` } });
    for (const key of [transportKey, `${transportKey}x`, secretKey, visitorToken]) {
      await server("/v1/messages", key, { threadId: "t", userId: "u", text: "x" });
      await server("/v1/messages", key, { threadId: "t", userId: "u", text: { [visitorToken]: secretKey } });
      await server("/v1/messages", key, { threadId: "t", userId: "u", text: "x", channel: "none" });
      await server("/v1/access", key, { channel: "cli", externalUserId: "u" });
      await server("/v1/channels/shop/identify", key, { visitorToken, externalUserId: "a" });
      await server("/v1/channels/shop/identify", key, { visitorToken, externalUserId: "b" });
      await server("/v1/channels/shop/identify", key, { visitorToken: [visitorToken], externalUserId: "b" });
    }
    const started = await widget("threads", {});
    const { threadId } = (started.status === 201 ? started.json() : { threadId: "t" }) as {
      threadId: string;
    };
    for (const token of [visitorToken, visitorToken.slice(0, -1), secretKey, transportKey]) {
      await widget("messages", { threadId, text: "x" }, token);
      await widget("tool-results", { threadId, callId: "c", tool: "t", result: 1 }, token);
    }
    await server("/console/sign-in", transportKey, { redirectUri: `${ORIGIN}/console` });
    await server("/console/sign-in/finish", transportKey, {
      flow: secretKey,
      answer: `code=${visitorToken}`,
    });
    await send({ path: `/v1/widget/threads/${visitorToken}/messages?before=${secretKey}`, headers: page });
  }

  try {
    await everything();
    expect(model.requests.length).toBeGreaterThan(4);
    await redis.kill9();
    await everything();
    await redis.restart();
    await expect.poll(async () => (await send({ path: "/health" })).status).toBe(200);
    redis.pause();
    await widget("threads", {});
    redis.resume();
    await expect.poll(async () => (await send({ path: "/health" })).status).toBe(200);
    service.kill("SIGTERM");
    expect(await service.exit).toBe(0);

    expect(answers.map((answer) => Number(answer.slice(0, 3)))).toEqual(
      expect.arrayContaining([200, 401, 404, 409, 422, 503]),
    );
    expect(found(answers.join("\n"), secrets)).toEqual([]);
    const log = service.output.stdout.join("\n");
    expect(log).toContain('"status":503');
    expect(found(log, secrets)).toEqual([]);
    expect(found(service.output.stderr, secrets)).toEqual([]);

    const kept = everythingIn(redis.dir);
    expect(found(kept, secrets)).toEqual([]);
    // It is the right file: the token and the key are in it by their SHA-256.
    for (const value of [visitorToken, canaries.secretKey]) {
      expect(kept).toContain(createHash("sha256").update(value).digest("hex"));
    }
    expect(
      found(
        readdirSync(dataDir)
          .filter((name) => name !== "channels.json")
          .join("\n"),
        secrets,
      ),
    ).toEqual([]);
  } finally {
    await redis.stop();
    await model.close();
  }
});

test("P15: a start that fails over a secret does not repeat it", async () => {
  const dataDir = temporaryFolder();
  const CHANNELS_FILE = join(dataDir, "channels.json");
  const notQuite = canaries.secretKey.slice("sk_".length);
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: notQuite };
  writeFileSync(CHANNELS_FILE, JSON.stringify({ channels: [{ ...shop, allowedOrigins: [ORIGIN] }] }));
  const started = spawnCommand(["serve"], { PORT: "0", DATA_DIR: dataDir, CHANNELS_FILE });
  expect(await started.exit).toBe(1);
  const said = started.output.stderr + started.output.stdout.join("\n");
  expect(said).toMatch(/^Cannot read CHANNELS_FILE [^\n]*secretKey/);
  expect(said).not.toContain(notQuite);
});
