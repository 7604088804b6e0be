// For src/main.ts, src/start/, src/installation/
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openKeysFile } from "../src/installation/keys-file.ts";
import { openFile } from "../src/stores/engines/lmdb/file.ts";
import { temporaryFolder } from "./support/stores/data-dir.ts";
import { freePort } from "./support/servers/free-port.ts";
import { hold, say, startModelServer } from "./support/servers/model-server.ts";
import { sendMessage, TEST_KEY } from "./support/servers/service.ts";
import { spawnCommand, startServiceProcess } from "./support/servers/service-process.ts";
import { runCommand } from "./support/terminal.ts";

const MESSAGE = { threadId: "t1", userId: "u1", text: "Hello" };

describe("a start without configuration", () => {
  test("A4: into a pipe it prints no secret, but where the keys are, and a line to paste that streams a reply (P15)", async () => {
    const dataDir = temporaryFolder();
    const { output } = await startServiceProcess({ DATA_DIR: dataDir });
    await expect.poll(() => output.stderr).toContain("curl");
    const keys = JSON.parse(readFileSync(join(dataDir, "keys.json"), "utf8")) as {
      harnessApiKey: string;
      localOperator: string;
      demo: { publishableKey: string; secretKey: string };
    };
    expect(output.stderr).toContain(keys.demo.publishableKey);
    expect(output.stderr).toContain(`in ${join(dataDir, "keys.json")}`);
    for (const key of [keys.harnessApiKey, keys.demo.secretKey, keys.localOperator]) {
      expect(output.stderr).not.toContain(key);
      expect(output.stdout.join("\n")).not.toContain(key);
    }
    for (const line of output.stdout) expect(() => void JSON.parse(line)).not.toThrow();

    const curl = output.stderr.split("\n").find((line) => line.startsWith("curl "));
    const { stdout } = await promisify(execFile)("bash", ["-c", curl ?? ""]);
    expect(stdout.trimEnd().split("\n").at(-1)).toContain('"type":"done"');
  });

  test.each([
    ["a key", TEST_KEY],
    ["keys", `${TEST_KEY} another-transport-key`],
  ])(
    "with %s of one's own the line says where it is missing, and streams where it is set",
    async (_, keys) => {
      const env = { DATA_DIR: temporaryFolder(), HARNESS_API_KEY: keys };
      const { output } = await startServiceProcess(env);
      await expect.poll(() => output.stderr).toContain("curl");
      expect(output.stderr).not.toContain(TEST_KEY);
      expect(output.stderr).toContain("in a shell with HARNESS_API_KEY set to the same key");
      const curl = output.stderr.split("\n").find((line) => line.includes("curl ")) ?? "";
      const paste = (HARNESS_API_KEY?: string) =>
        promisify(execFile)("sh", ["-c", curl], { env: { PATH: process.env["PATH"], HARNESS_API_KEY } });
      expect((await paste(keys)).stdout.trimEnd().split("\n").at(-1)).toContain('"type":"done"');
      await expect(paste()).rejects.toThrow("HARNESS_API_KEY: is not set in this shell");
    },
  );

  test("serves the demo page on an origin that the demo channel allows", async () => {
    const { output } = await startServiceProcess({ DATA_DIR: temporaryFolder() });
    await expect.poll(() => output.stderr).toContain("Demo page");
    const page = /Demo page\s+(\S+)/.exec(output.stderr)?.[1] ?? "";
    expect((await fetch(page)).status).toBe(200);
    const service = /Chat agent\s+(\S+)/.exec(output.stderr)?.[1] ?? "";
    const origin = new URL(page).origin;
    const front = await (await fetch(service)).text();
    expect(front).toContain(`href="${page}"`);
    expect(front).not.toMatch(/[tps]k_\w/);
    const preflight = await fetch(`${service}/v1/widget/visitors`, {
      method: "OPTIONS",
      headers: { origin },
    });
    expect(preflight.status).toBe(204);
  });
});

test("a start that others reach shows no demo, says so, and makes no channel for it", async () => {
  const dataDir = temporaryFolder();
  const { url, output } = await startServiceProcess({ DATA_DIR: dataDir, HOST: "0.0.0.0" });
  await expect.poll(() => output.stderr).toContain("DEMO=on");
  expect(output.stderr).not.toContain("Demo channel");
  const key = openKeysFile(dataDir).harnessApiKey.reveal();
  const message = (channel: string) =>
    fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ ...MESSAGE, channel }),
    });
  expect((await message("demo")).status).toBe(404);
  expect((await message("cli")).status).toBe(200);
});

describe("a start that cannot be", () => {
  test.each([
    [
      "a variable that does not parse",
      { PORT: "http" },
      'PORT is "http", it takes a whole number from 0 to 65535',
    ],
    ["an empty key", { HARNESS_API_KEY: "" }, "HARNESS_API_KEY is empty"],
    ["a channels file that is not there", { CHANNELS_FILE: "/nowhere.json" }, "Cannot read CHANNELS_FILE"],
    [
      "a folder that cannot be written",
      { DATA_DIR: "/dev/null/data" },
      "Cannot write to DATA_DIR /dev/null/data: ",
    ],
    [
      "a Redis that does not answer",
      { REDIS_URL: "redis://:canary@127.0.0.1:1" },
      "Cannot connect to Redis: connect ECONNREFUSED 127.0.0.1:1; REDIS_URL says where it is",
    ],
  ])("%s: exits 1 with one line, before listening", async (_name, env, complaint) => {
    const { exit, output } = spawnCommand(["serve"], { PORT: "0", DATA_DIR: temporaryFolder(), ...env });
    expect(await exit).toBe(1);
    expect(output.stderr).toContain(complaint);
    expect(output.stderr).toMatch(/^Cannot [^\n]+\n$/);
    expect(output.stderr).not.toContain("canary");
    expect(output.stdout.join("")).not.toContain('"url"');
  });

  test("a store whose format is from the future exits 1 with its line", async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "store"));
    const { db, write, close } = await openFile(join(dataDir, "store"));
    await write(() => db.put("format", "999"));
    await close();
    const { exit, output } = spawnCommand(["serve"], { PORT: "0", DATA_DIR: dataDir });
    expect(await exit).toBe(1);
    expect(output.stderr).toMatch(/^Cannot open the store in [^\n]+: its format is 999, [^\n]+\n$/);
  });

  test("a broken channels file exits 1 with its line", async () => {
    const dataDir = temporaryFolder();
    const path = join(dataDir, "channels.json");
    writeFileSync(path, JSON.stringify({ channels: [{ slug: "Shop", kind: "web" }] }));
    const { exit, output } = spawnCommand(["serve"], { PORT: "0", DATA_DIR: dataDir, CHANNELS_FILE: path });
    expect(await exit).toBe(1);
    expect(output.stderr).toMatch(
      /^Cannot read CHANNELS_FILE .*channels\[0\]\.slug: must be 1 to 64[^\n]+\n$/,
    );
  });

  test("a second serve on one DATA_DIR exits 1", async () => {
    const dataDir = temporaryFolder();
    const first = await startServiceProcess({ DATA_DIR: dataDir });
    const second = spawnCommand(["serve"], { PORT: "0", DATA_DIR: dataDir });
    expect(await second.exit).toBe(1);
    expect(second.output.stderr).toMatch(/^Cannot lock [^\n]+\n$/);
    expect((await fetch(`${first.url}/health`)).status).toBe(200);
  });

  test("a second serve on one PORT exits 1, with the default listener too", async () => {
    const PORT = String(await freePort());
    await startServiceProcess({ PORT, DATA_DIR: temporaryFolder() });
    const second = spawnCommand(["serve"], { PORT, DATA_DIR: temporaryFolder() });
    expect(await second.exit).toBe(1);
    expect(second.output.stderr).toMatch(
      new RegExp(`^Cannot listen on 127.0.0.1:${PORT}: [^\\n]+; HOST and PORT may name another one\\n$`),
    );
  });

  test("a port that is taken exits 1", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const PORT = String((taken.address() as AddressInfo).port);
    const { exit, output } = spawnCommand(["serve"], { DATA_DIR: temporaryFolder(), PORT });
    expect(await exit).toBe(1);
    expect(output.stderr).toContain(PORT);
    taken.close();
  });
});

test("H3: a site and an empty key do not start, unless the demo model is meant", async () => {
  const dataDir = temporaryFolder();
  const CHANNELS_FILE = join(dataDir, "channels.json");
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_shop", secretKey: "sk_shop" };
  writeFileSync(
    CHANNELS_FILE,
    JSON.stringify({ channels: [{ ...shop, allowedOrigins: ["https://shop.example"] }] }),
  );
  const env = { PORT: "0", DATA_DIR: dataDir, CHANNELS_FILE, OPENAI_API_KEY: "", HARNESS_API_KEY: TEST_KEY };
  const { exit, output } = spawnCommand(["serve"], env);
  expect(await exit).toBe(1);
  expect(output.stderr).toMatch(
    /^Cannot start: OPENAI_API_KEY is empty, and CHANNELS_FILE has the site shop[^\n]+MODEL=demo[^\n]+\n$/,
  );
  const { url } = await startServiceProcess({ ...env, MODEL: "demo" });
  expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ model: "demo" });
});

test("H4: whoever reads may have enough", async () => {
  const env = { DATA_DIR: temporaryFolder() };
  await startServiceProcess(env);
  const { stdout, stderr } = await promisify(execFile)(
    "bash",
    [
      "-c",
      'set -o pipefail; "$0" "$@" | true',
      process.execPath,
      "dist/src/cli/chat-agent.js",
      "channels",
      "list",
    ],
    { env: { ...process.env, ...env } },
  );
  expect([stdout, stderr]).toEqual(["", ""]);
});

describe("with CHANNELS_FILE", () => {
  test("a start that overrides the command line's change says so in one line", async () => {
    const dataDir = temporaryFolder();
    const CHANNELS_FILE = join(dataDir, "channels.json");
    writeFileSync(
      CHANNELS_FILE,
      JSON.stringify({ channels: [{ slug: "bot", kind: "transport", enabled: true }] }),
    );
    const env = { DATA_DIR: dataDir, CHANNELS_FILE, HARNESS_API_KEY: TEST_KEY };
    const first = await startServiceProcess(env);
    expect((await sendMessage(first.url, { ...MESSAGE, channel: "bot" })).status).toBe(200);

    // In force soon, from another process, without a restart.
    expect((await runCommand(env, ["channels", "disable", "bot"])).code).toBe(0);
    const statusNow = async () => (await sendMessage(first.url, { ...MESSAGE, channel: "bot" })).status;
    await expect.poll(statusNow).toBe(403);
    first.kill("SIGTERM");
    expect(await first.exit).toBe(0);

    const second = await startServiceProcess(env);
    const overrides = second.output.stdout.filter((line) =>
      line.includes("overrides enabled of channel bot"),
    );
    expect(overrides).toHaveLength(1);
    expect((await sendMessage(second.url, { ...MESSAGE, channel: "bot" })).status).toBe(200);
    expect(existsSync(join(dataDir, "keys.json"))).toBe(false);
  });
});

describe("signals", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "P29: %s ends an idle service with exit code 0",
    async (signal) => {
      const service = await startServiceProcess({ DATA_DIR: temporaryFolder() });
      service.kill(signal);
      expect(await service.exit).toBe(0);
    },
  );

  test("P29: a second SIGTERM does not wait for the grace", async () => {
    const model = await startModelServer([[say("Hel"), hold()]]);
    const env = { DATA_DIR: temporaryFolder(), HARNESS_API_KEY: TEST_KEY, OPENAI_BASE_URL: model.baseUrl };
    const service = await startServiceProcess(env);
    const cut = sendMessage(service.url, MESSAGE).catch(() => null);
    await model.held();
    service.kill("SIGTERM");
    await expect.poll(() => service.output.stdout.join("")).toContain("Stopping");
    service.kill("SIGTERM");
    expect(await service.exit).toBe(1);
    await cut;
    await model.close();
  });

  test("P29: what `npm start` runs is the service itself, so that it gets the SIGTERM that npm hands on", async () => {
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
    const env = { PORT: "0", DATA_DIR: temporaryFolder() };
    const service = spawnCommand([], env, { runner: ["sh", "-c", scripts.start] });
    await service.listening;
    service.kill("SIGTERM");
    expect(await service.exit).toBe(0);
  });

  test("P29: under npm a Ctrl-C that comes from the terminal and from npm asks once", async () => {
    const model = await startModelServer([[say("Hel"), hold(), say("lo")]]);
    const service = await startServiceProcess({
      DATA_DIR: temporaryFolder(),
      HARNESS_API_KEY: TEST_KEY,
      OPENAI_BASE_URL: model.baseUrl,
      npm_lifecycle_event: "start",
    });
    const reply = sendMessage(service.url, MESSAGE);
    await model.held();
    // So that both have come when it looks, however late that is.
    for (const signal of ["SIGSTOP", "SIGINT", "SIGTERM", "SIGCONT"] as const) service.kill(signal);
    await expect.poll(() => service.output.stdout.join("")).toContain("Stopping");
    model.release();
    expect((await reply).lines.at(-1)?.type).toBe("done");
    expect(await service.exit).toBe(0);
    await model.close();
  });
});
