// For src/start/, src/installation/
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import type { RedisServer } from "../support/stores/redis-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { spawnCommand, startServiceProcess } from "../support/servers/service-process.ts";
import { readKeysFile } from "../../src/installation/keys-file.ts";
import type { ServiceProcess } from "../support/servers/service-process.ts";
import { runCommand } from "../support/terminal.ts";

/** What a start told its person, by the names of the greeting. */
async function greetingOf({ output }: ServiceProcess, { DATA_DIR }: { DATA_DIR: string }) {
  await expect.poll(() => output.stderr).toContain("curl");
  // Into a pipe no secret is printed: the file has them, but for one that this start does not know.
  expect(output.stderr).not.toMatch(/sk_\w/);
  const isKnown = !output.stderr.includes("rotate-keys demo");
  const told = (name: string) => new RegExp(`^  ${name}\\s+(\\S+)`, "m").exec(output.stderr)?.[1] ?? "";
  return {
    service: told("Chat agent"),
    demo: told("Demo page"),
    publishableKey: told("Demo channel"),
    secretKey: isKnown ? (readKeysFile(DATA_DIR)?.demo.secretKey.reveal() ?? null) : null,
    text: output.stderr,
  };
}
type Greeting = Awaited<ReturnType<typeof greetingOf>>;

/** A visitor is made as the demo page does it: with the key that stands in the page, from the page's origin. */
async function visit({ service, demo }: Greeting): Promise<{ status: number; visitorToken: string }> {
  const html = await (await fetch(demo)).text();
  const key = /publishable-key="([^"]+)"/.exec(html)?.[1] ?? "";
  const headers = { origin: demo, "x-publishable-key": key };
  const answer = await fetch(`${service}/v1/widget/visitors`, { method: "POST", headers });
  return { status: answer.status, ...((await answer.json()) as { visitorToken: string }) };
}

async function identify(service: string, secretKey: string, visitorToken: string): Promise<number> {
  const answer = await fetch(`${service}/v1/channels/demo/identify`, {
    method: "POST",
    headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
    body: JSON.stringify({ visitorToken, externalUserId: "ada" }),
  });
  return answer.status;
}

describe("starts without CHANNELS_FILE", () => {
  test("on one Redis: the first makes the demo channel, the second keeps its keys, and both pages work", async () => {
    const redis = await startRedis();
    const env = { REDIS_URL: redis.url, HARNESS_API_KEY: TEST_KEY };
    const firstEnv = { ...env, DATA_DIR: temporaryFolder() };
    const first = await greetingOf(await startServiceProcess(firstEnv), firstEnv);
    expect(first.secretKey).not.toBeNull();
    const secondEnv = { ...env, DATA_DIR: temporaryFolder() };
    const second = await greetingOf(await startServiceProcess(secondEnv), secondEnv);

    expect(second.publishableKey).toBe(first.publishableKey);
    expect(second.secretKey).toBeNull();
    expect(second.text).toContain("channels rotate-keys demo");
    for (const at of [first, second]) {
      const { status, visitorToken } = await visit(at);
      expect(status).toBe(201);
      expect(await identify(at.service, first.secretKey ?? "", visitorToken)).toBe(200);
    }
    expect(await (await fetch(first.demo)).text()).toContain("data-sign-in");
    expect(await (await fetch(second.demo)).text()).not.toContain("data-sign-in");
    const signIn = await fetch(`${second.demo}/demo/sign-in`, { method: "POST" });
    expect(signIn.status).toBe(404);

    // Who rotates knows the new keys, and so does the next start of that folder; the other one's knows half of them.
    expect((await runCommand(secondEnv, ["channels", "rotate-keys", "demo"])).code).toBe(0);
    const [again, third] = [
      await greetingOf(await startServiceProcess(firstEnv), firstEnv),
      await greetingOf(await startServiceProcess(secondEnv), secondEnv),
    ];
    expect(third.publishableKey).not.toBe(first.publishableKey);
    expect(third.secretKey).toMatch(/^sk_/);
    expect(again).toMatchObject({ publishableKey: third.publishableKey, secretKey: null });
    const { visitorToken } = await visit(third);
    expect(await identify(third.service, third.secretKey ?? "", visitorToken)).toBe(200);
    await redis.stop();
  });

  test("on one DATA_DIR, one after the other: the second greeting is as complete as the first", async () => {
    const env = { DATA_DIR: temporaryFolder() };
    const process = await startServiceProcess(env);
    const first = await greetingOf(process, env);
    process.kill("SIGTERM");
    expect(await process.exit).toBe(0);

    const second = await greetingOf(await startServiceProcess(env), env);
    const kept = JSON.parse(readFileSync(join(env.DATA_DIR, "keys.json"), "utf8")) as object;
    expect(kept).toMatchObject({
      demo: { publishableKey: second.publishableKey, secretKey: second.secretKey },
    });
    const withoutPorts = ({ text }: Greeting) => text.replaceAll(/:\d+/g, ":PORT");
    expect(withoutPorts(second)).toBe(withoutPorts(first));
    expect((await visit(second)).status).toBe(201);
  });
});

describe("DURABILITY=replica", () => {
  let primary: RedisServer;
  beforeAll(async () => {
    primary = await startRedis({ args: ["--repl-diskless-sync-delay", "0", "--appendfsync", "always"] });
  });
  afterAll(() => primary.stop());

  const start = () => {
    const env = { REDIS_URL: primary.url, DURABILITY: "replica", HARNESS_API_KEY: TEST_KEY };
    return spawnCommand(["serve"], { PORT: "0", DATA_DIR: temporaryFolder(), ...env });
  };

  test("a start without a replica exits 1 and says that none has confirmed, and what to do; with one it listens", async () => {
    const alone = start();
    expect(await alone.exit).toBe(1);
    expect(alone.output.stderr).toMatch(/^Cannot [^\n]+\n$/);
    expect(alone.output.stderr).toContain("no replica has confirmed it");
    expect(alone.output.stderr).toContain("connect one replica");

    const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    await expect
      .poll(
        async () => {
          const { listening } = start();
          return listening.then(
            ({ url }) => url,
            () => null,
          );
        },
        { timeout: 60_000 },
      )
      .toMatch(/^http:/);
    // What the start without a replica left half written is whole now.
    const listed = await runCommand({ REDIS_URL: primary.url }, ["channels", "list", "--json"]);
    expect(JSON.parse(listed.out)).toMatchObject([{ slug: "cli" }, { slug: "demo" }]);
    await replica.stop();
  });
});
