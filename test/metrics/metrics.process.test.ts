// For src/metrics/
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { freePort } from "../support/servers/free-port.ts";
import { TEST_KEY, sendMessage } from "../support/servers/service.ts";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { valueOf } from "./sample.ts";

test("a process tells its metrics to the transport key alone, and on METRICS_PORT without one", async () => {
  const metricsPort = await freePort();
  const { url } = await startServiceProcess({
    DATA_DIR: temporaryFolder(),
    HARNESS_API_KEY: TEST_KEY,
    METRICS_PORT: String(metricsPort),
  });
  await sendMessage(url, { threadId: "t1", userId: "ada", text: "Hello" });
  await sendMessage(url, { threadId: "t1", userId: "ada", text: "Hello" }, "wrong");

  expect((await fetch(`${url}/metrics`)).status).toBe(401);
  const wrong = await fetch(`${url}/metrics`, { headers: { authorization: "Bearer wrong" } });
  expect([wrong.status, await wrong.text()]).toEqual([401, "Unauthorized"]);

  const right = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TEST_KEY}` } });
  expect(right.status).toBe(200);
  expect(right.headers.get("content-type")).toContain("text/plain; version=0.0.4");
  const text = await right.text();
  const count = (sample: string) => valueOf(text, sample);
  expect(await count('chat_agent_request_seconds_count{route="/v1/messages",status="200"}')).toBe(1);
  expect(await count('chat_agent_request_seconds_count{route="/v1/messages",status="401"}')).toBe(1);
  expect(await count('chat_agent_run_seconds_count{channel="cli",outcome="done"}')).toBe(1);
  expect(await count('chat_agent_thread_events_total{event="user.said"}')).toBe(1);
  expect(await count('chat_agent_model_first_text_seconds_count{model="gpt-5-mini"}')).toBe(1);
  expect(await count('chat_agent_store_call_seconds_count{operation="commit",outcome="done"}')).toBe(2);
  expect(await count("chat_agent_threads_held")).toBe(0);
  expect(await count("chat_agent_open_streams")).toBeGreaterThanOrEqual(1);
  expect(text).toContain("nodejs_eventloop_lag_seconds");
  expect(text).not.toContain("ada");

  const alone = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  expect(alone.status).toBe(200);
  expect(await alone.text()).toContain("chat_agent_run_seconds_count");
  expect((await fetch(`http://127.0.0.1:${metricsPort}/health`)).status).toBe(404);
});
