// For src/service.ts, src/version.ts, src/clock.ts, src/installation/open-model.ts, src/installation/open-store.ts,
// src/start/open-resources.ts
import { expect, test } from "vitest";
import { Secret } from "../src/secret.ts";
import { openScriptedModel } from "./support/servers/open-model.ts";
import { hold, say } from "./support/servers/model-server.ts";
import { sendMessage, startTestService } from "./support/servers/service.ts";

const MESSAGE = { threadId: "t1", userId: "u1", text: "Hello" };

test("a started service answers with a stream that ends in done", async () => {
  const { url } = await startTestService();
  const { status, lines, text } = await sendMessage(url, MESSAGE);
  expect(status).toBe(200);
  expect(text).not.toBe("");
  expect(lines.at(-1)).toMatchObject({ type: "done" });
});

test("the transport key decides, and is nowhere in the log (P15)", async () => {
  const service = await startTestService();
  expect(await sendMessage(service.url, MESSAGE, "wrong")).toMatchObject({
    status: 401,
    text: "Unauthorized",
  });
  expect(service.logged.join("")).not.toContain("test-transport-key");
});

test("P29: stop() lets an open stream end within the grace", async () => {
  const { server, model } = await openScriptedModel([[say("Hel"), hold(), say("lo")]]);
  const service = await startTestService({ model });
  const answered = sendMessage(service.url, MESSAGE);
  await server.held();
  const stopped = service.stop(10_000);
  server.release();
  expect(await answered).toMatchObject({ text: "Hello" });
  expect((await answered).lines.at(-1)).toMatchObject({ type: "done" });
  await stopped;
  await expect(fetch(`${service.url}/health`)).rejects.toThrow("fetch failed");
});

test("P29: past the grace an open stream ends as interrupted", async () => {
  const { server, model } = await openScriptedModel([[say("Hel"), hold()]]);
  const service = await startTestService({ model });
  const answered = sendMessage(service.url, MESSAGE);
  await server.held();
  await service.stop(0);
  expect((await answered).lines.at(-1)).toMatchObject({ type: "error", code: "interrupted" });
});

test("P35: what a user spends on a capped channel is counted, and ends at the cap", async () => {
  const { server, model } = await openScriptedModel();
  const service = await startTestService({ model });
  const cli = await service.store.channel("cli");
  if (cli === null) throw new Error("Cannot go on: no channel");
  await service.store.putChannel({ ...cli, agent: { maxTokensPerUserPerDay: 1 } });
  await service.directory.renew();
  expect((await sendMessage(service.url, MESSAGE)).lines.at(-1)).toMatchObject({ type: "done" });
  const second = await sendMessage(service.url, MESSAGE);
  expect(second.lines.at(-1)).toMatchObject({ type: "error", code: "budget_exceeded" });
  expect(server.requests).toHaveLength(1);
});

test("what happened is in the day's statistics when the service has stopped", async () => {
  const service = await startTestService();
  await sendMessage(service.url, MESSAGE);
  await sendMessage(service.url, MESSAGE);
  await service.stop(10_000);
  const days = await service.store.stats("cli", { from: "2000-01-01", to: "2100-01-01" });
  expect(days).toMatchObject([{ counts: { messages: 2, "runs.done": 2 }, visitors: 1 }]);
  expect(JSON.stringify(days)).toMatch(/"wait\.\d+":\d/);
});

test("a key that can be guessed is warned of in /health, and works", async () => {
  const warned = async (key: string) => {
    const harnessApiKey = new Secret(key);
    const { url } = await startTestService({ env: { HARNESS_API_KEY: key }, harnessApiKey });
    const got = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${key}` } });
    return ((await got.json()) as { warnings: string[] }).warnings;
  };
  expect(await warned("a")).toEqual([
    "HARNESS_API_KEY has a key of fewer than 24 characters: it can be guessed",
  ]);
  expect(await warned("k".repeat(24))).toEqual([]);
});

test("limits of the configuration are in force", async () => {
  const { url } = await startTestService({ env: { SERVER_MAX_BODY_BYTES: "100" } });
  expect((await sendMessage(url, { ...MESSAGE, text: "x".repeat(200) })).status).toBe(413);
});
