// For src/webhooks/
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startRedis } from "../support/stores/redis-server.ts";
import { sendMessage } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { SECRET, startReceiver } from "./receiver.ts";

const KEY = "key-of-this-test-which-is-long";

test.each(inject("stores").map((name) => ({ name })))(
  "a service that is killed before anything was taken tells all of it when it is back, once each by id, on the $name store",
  async ({ name }) => {
    const receiver = await startReceiver(() => null);
    const dataDir = temporaryFolder();
    const file = join(dataDir, "channels.json");
    const webhooks = [{ url: receiver.url, secret: "$HOOK_SECRET" }];
    writeFileSync(file, JSON.stringify({ channels: [{ slug: "cli", kind: "transport", webhooks }] }));
    const env: NodeJS.ProcessEnv = {
      CHANNELS_FILE: file,
      DATA_DIR: dataDir,
      HARNESS_API_KEY: KEY,
      HOOK_SECRET: SECRET,
      WEBHOOKS_PRIVATE: "on",
    };
    if (name === "redis") {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      env["REDIS_URL"] = redis.url;
    }
    const first = await startServiceProcess(env);
    const said = await sendMessage(first.url, { threadId: "t", userId: "kim", text: "Hello" }, KEY);
    expect(said.status).toBe(200);
    await expect.poll(() => receiver.told.length, { timeout: 30_000 }).toBeGreaterThan(0);
    await first.close();
    receiver.answer(() => 204);

    await startServiceProcess(env);
    await expect.poll(() => receiver.taken().length, { timeout: 60_000 }).toBe(3);
    expect(receiver.faults).toEqual([]);
    expect(receiver.taken().map(({ data }) => data.sequence)).toEqual([1, 2, 3]);
    const bodies = new Map(receiver.told.map(({ id, raw }) => [id, raw]));
    for (const { id, raw } of receiver.told) expect(raw).toBe(bodies.get(id));
    expect(bodies.size).toBe(3);
  },
);
