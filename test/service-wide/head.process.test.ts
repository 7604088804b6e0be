// For src/listeners/, src/http/head-limit.ts
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { ask } from "./clients/ask.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";

/** All that is answered without a credential. */
const OPEN = [
  "/widget/v1/chat-agent.js",
  "/widget/v1/chat-agent.mjs",
  "/swagger",
  "/swagger/start.js",
  "/swagger/openapi.json",
  "/swagger/swagger-ui.css",
  "/swagger/swagger-ui-bundle.js",
  "/swagger/favicon-32x32.png",
  "/console",
  "/console/thread.svg",
  "/console/thread.js",
  "/health",
];

describeEachListener("HEAD", (listener) => {
  test("HEAD answers as GET does, without the body", async () => {
    const env = { DATA_DIR: temporaryFolder(), LISTENER: listener };
    const { url } = await startServiceProcess(env);
    for (const path of OPEN) {
      const got = await ask(url, { path });
      expect([path, got.status]).toEqual([path, 200]);
      expect(got.bytes.length).toBeGreaterThan(0);
      const head = await ask(url, { method: "HEAD", path });
      // A long file is sent in pieces, without its length.
      const { "transfer-encoding": _, ...headers } = got.headers;
      expect({ path, status: head.status, headers: head.headers }).toEqual({
        path,
        status: 200,
        headers: { ...headers, "content-length": String(got.bytes.length) },
      });
      expect(head.bytes).toHaveLength(0);
    }
    expect((await ask(url, { method: "HEAD", path: "/widget/v1/none.js" })).status).toBe(404);
  });
});
