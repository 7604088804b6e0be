// For src/agent/ignored-body.ts
import { expect, onTestFinished, test } from "vitest";
import { ignoredBody } from "../../src/agent/ignored-body.ts";
import { sampleChannel } from "../stores/samples.ts";
import { startModelServer } from "../support/servers/model-server.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";

test("G19: a stored n is not sent to the model, and the log and /health say so", async () => {
  const server = await startModelServer(["Hello."]);
  onTestFinished(() => server.close());
  const channel = sampleChannel({ slug: "shop", agent: { body: { n: 50, top_p: 0.5 } } });
  const env = { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: "key" };
  const service = await startTestService({ env, channels: [channel] });
  await sendMessage(service.url, { threadId: "t", userId: "u", text: "Hi", channel: "shop" });
  expect(server.requests[0]?.body).toMatchObject({ top_p: 0.5 });
  expect(server.requests[0]?.body).not.toHaveProperty("n");
  const told = service.logged.filter((line) => line.includes("agent.body of channel shop has n"));
  expect(told).toHaveLength(1);
  const health = await fetch(`${service.url}/health`, {
    headers: { authorization: "Bearer test-transport-key" },
  });
  expect(await health.text()).toContain("agent.body of channel shop has n");
  expect(ignoredBody([sampleChannel({ agent: { body: { top_p: 1 } } })])).toEqual([]);
});
