import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/data-dir.ts";
import { hold, say, startModelServer } from "../support/model-server.ts";
import { TEST_KEY } from "../support/service.ts";
import { ask } from "./ask.ts";
import { openStream } from "./open-stream.ts";
import type { OpenStream } from "./open-stream.ts";
import { LISTENERS } from "./open-whole.ts";

const LIMIT = 160;

/** The service as a process that may open so many files, and no more. */
async function startWithin(limit: number, env: NodeJS.ProcessEnv): Promise<string> {
  const command = `ulimit -n ${limit}; exec "${process.execPath}" --import tsx src/cli/chat-agent.ts serve`;
  const child = spawn("bash", ["-c", command], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: { PATH: process.env["PATH"], PORT: "0", HARNESS_API_KEY: TEST_KEY, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /"url":"([^"]+)"/.exec(line)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error("Cannot start the service: it ended");
}

test.each(LISTENERS)(
  "P19: near the limit of file descriptors new requests are 503, open streams go on, and then there is room again, on %s",
  async (listener) => {
    // What never ends holds two descriptors: its client's and its model's.
    const model = await startModelServer(() => [say("Hel"), hold(), say("lo")]);
    onTestFinished(() => model.close());
    const url = await startWithin(LIMIT, {
      LISTENER: listener,
      DATA_DIR: temporaryFolder(),
      OPENAI_API_KEY: "sk-model",
      OPENAI_BASE_URL: model.baseUrl,
    });
    const message = (nth: number) => ({
      method: "POST",
      path: "/v1/messages",
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ threadId: `t${nth}`, userId: "u", text: "Hi" }),
    });

    const streams: OpenStream[] = [];
    for (;;) {
      const stream = await openStream(url, message(streams.length));
      if (stream.status !== 200) {
        expect([stream.status, stream.headers["retry-after"], stream.headers.connection]).toEqual([
          503,
          "1",
          "close",
        ]);
        break;
      }
      await stream.has("delta");
      streams.push(stream);
      expect(streams.length * 2).toBeLessThan(LIMIT);
    }
    expect(streams.length).toBeGreaterThan(20);
    expect((await ask(url, { path: "/health" })).status).toBe(503);

    model.release(streams.length);
    for (const stream of streams) expect((await stream.end()).at(-1)).toMatchObject({ type: "done" });
    await expect
      .poll(async () => (await ask(url, { path: "/health" })).status, { timeout: 10_000 })
      .toBe(200);
  },
);
