// For src/start/, src/threads/recover/
import { expect, inject, test } from "vitest";
import { temporaryFolder } from "./support/stores/data-dir.ts";
import { startRedis } from "./support/stores/redis-server.ts";
import { sendMessage, TEST_KEY } from "./support/servers/service.ts";
import { startServiceProcess } from "./support/servers/service-process.ts";
import { runCommand } from "./support/terminal.ts";

const MESSAGE = { threadId: "t1", userId: "u1", text: "Hello" };

test.each(inject("stores"))(
  "P1: after kill -9 and a restart the conversation goes on, on the %s store",
  async (kind) => {
    const redis = kind === "redis" ? await startRedis() : null;
    const env = {
      DATA_DIR: temporaryFolder(),
      HARNESS_API_KEY: TEST_KEY,
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
    };
    const first = await startServiceProcess(env);
    const before = await sendMessage(first.url, MESSAGE);
    first.kill("SIGKILL");
    await first.exit;

    const second = await startServiceProcess(env);
    await sendMessage(second.url, { ...MESSAGE, text: "Still there?" });
    const listed = await runCommand(env, ["threads", "list", "cli", "u1", "--json"]);
    const [thread] = JSON.parse(listed.out) as { id: string }[];
    const shown = await runCommand(env, ["threads", "show", "cli", thread?.id ?? "", "--json"]);
    const { messages } = JSON.parse(shown.out) as { messages: { role: string; content: string }[] };
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(messages[0]?.content).toBe("Hello");
    expect(messages[1]?.content).toBe(before.text);
    expect(messages[2]?.content).toBe("Still there?");
    second.kill("SIGKILL");
    await second.exit;
    await redis?.stop();
  },
);
