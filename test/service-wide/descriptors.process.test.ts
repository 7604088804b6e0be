// For src/listeners/descriptors.ts
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { hold, say, startModelServer } from "../support/servers/model-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { ask } from "./clients/ask.ts";
import { openStream } from "./clients/open-stream.ts";
import type { OpenStream } from "./clients/open-stream.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";

/** The modules of a start are opened many at once, and need 180. */
const LIMIT = 256;

describeEachListener("the limit of file descriptors", (listener) => {
  test("P19: near the limit of file descriptors new requests are 503, open streams go on, and then there is room again", async () => {
    // What never ends holds two descriptors: its client's and its model's.
    const model = await startModelServer(() => [say("Hel"), hold(), say("lo")]);
    onTestFinished(() => model.close());
    const env = {
      LISTENER: listener,
      DATA_DIR: temporaryFolder(),
      HARNESS_API_KEY: TEST_KEY,
      OPENAI_API_KEY: "sk-model",
      OPENAI_BASE_URL: model.baseUrl,
    };
    const { url } = await startServiceProcess(env, { descriptors: LIMIT });
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
    await expect.poll(async () => (await ask(url, { path: "/health" })).status).toBe(200);
  });
});
