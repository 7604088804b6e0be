// For src/stores/backup/, src/installation/open-store-data.ts
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { hang, say, startModelServer } from "../../support/servers/model-server.ts";
import { startRedis } from "../../support/stores/redis-server.ts";
import { TEST_KEY } from "../../support/servers/service.ts";
import { startServiceProcess } from "../../support/servers/service-process.ts";
import { runCommand } from "../../support/terminal.ts";
import { storeJson } from "./copy.ts";

const kind = inject("stores").includes("redis") ? "redis" : "embedded";

async function emptyStore(): Promise<Record<string, string>> {
  const env = { DATA_DIR: temporaryFolder() };
  if (kind === "embedded") return env;
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return { ...env, REDIS_URL: redis.url };
}

async function json(env: Record<string, string>, ...args: string[]): Promise<unknown> {
  const { code, out } = await runCommand(env, [...args, "--json"]);
  return code === 0 ? (JSON.parse(out) as unknown) : null;
}

test("a run of the backup goes on in a service that runs on the restored store, and its thread is as it was", async () => {
  // The first turn never ends; whoever takes it over is answered.
  let asked = 0;
  const model = await startModelServer((_, nth) => {
    asked += 1;
    return nth === 0 ? [say("Hel"), hang()] : "Hello again";
  });
  onTestFinished(() => model.close());
  const settings = { HARNESS_API_KEY: TEST_KEY, OPENAI_BASE_URL: model.baseUrl };

  const left = await emptyStore();
  const first = await startServiceProcess({ ...left, ...settings });
  const said = fetch(`${first.url}/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ threadId: "t1", userId: "u1", text: "Hi" }),
  }).then((response) => response.text());
  said.catch(() => {});
  await expect.poll(() => json(left, "threads", "list", "cli", "u1")).toMatchObject([{ state: "running" }]);
  // Running it is before its model is asked.
  await expect.poll(() => asked).toBe(1);
  const file = join(temporaryFolder(), "backup");
  expect(await storeJson(left, "backup", file)).toMatchObject({ users: 1, threads: 1 });
  expect(await storeJson(left, "info")).toMatchObject({ instances: 1, threads: 1 });
  first.kill("SIGKILL");
  await first.exit;

  const restored = await emptyStore();
  const second = await startServiceProcess({ ...restored, ...settings });
  await storeJson(restored, "restore", file);
  const [thread] = (await json(restored, "threads", "list", "cli", "u1")) as { id: string }[];
  await expect.poll(() => json(restored, "threads", "list", "cli", "u1")).toMatchObject([{ state: "idle" }]);
  const { out } = await runCommand(restored, ["threads", "show", "--json", "--", "cli", thread?.id ?? ""]);
  const { messages } = JSON.parse(out) as { messages: { role: string; content: string }[] };
  expect(messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "Hi"],
    ["assistant", expect.stringContaining("Hello again")],
  ]);
  second.kill("SIGKILL");
  await second.exit;
});
