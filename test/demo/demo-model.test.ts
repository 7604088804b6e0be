// For src/demo/model/demo-model.ts
import { expect, onTestFinished, test } from "vitest";
import { startDemoModel } from "../../src/demo/model/demo-model.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import { openDemoModel } from "./open-demo-model.ts";
import { startTurn } from "../support/servers/open-model.ts";

test("the demo model streams its answer word by word", async () => {
  const { turn, written } = startTurn(await openDemoModel());
  const { text } = await turn;
  expect(text).toContain("demo model");
  // It thinks first, and that is no part of the reply.
  expect(text).not.toContain("rules have");
  expect(written.join("")).toBe(text);
  expect(written.length).toBeGreaterThan(3);
});

test("the demo model calls a tool, and answers from its result", async () => {
  const model = await openDemoModel();
  const request = {
    tools: [{ name: "clock", description: "Tells the time", parameters: { type: "object", properties: {} } }],
    messages: [{ role: "user" as const, content: "What time is it?" }],
  };
  const { calls, text, by } = await startTurn(model, { request }).turn;
  expect(text).toBe("");
  expect(calls).toEqual([{ callId: expect.stringMatching(/^call_/), name: "clock", arguments: "{}" }]);
  const next = {
    ...request,
    messages: [
      ...request.messages,
      { role: "assistant" as const, content: "", calls, by },
      { role: "tool" as const, callId: calls[0]?.callId ?? "", content: "12:30" },
    ],
  };
  expect((await startTurn(model, { request: next }).turn).text).toContain("12:30");
});

test("the demo model refuses what is no chat completion", async () => {
  const demo = await startDemoModel();
  onTestFinished(() => demo.close());
  for (const [path, body, status] of [
    ["/chat/completions", "{oops", 400],
    ["/chat/completions", "{}", 400],
    ["/models", '{"messages":[]}', 404],
  ] as const) {
    expect((await fetch(demo.baseUrl + path, { method: "POST", body })).status).toBe(status);
  }
});

test("closing the demo model ends its answers", async () => {
  const demo = await startDemoModel();
  const model = openOpenAi({ apiKey: null, baseUrl: demo.baseUrl, silenceMs: 30_000, kind: "demo" });
  const { turn, written } = startTurn(model);
  await expect.poll(() => written.length).toBeGreaterThan(0);
  await demo.close();
  await expect(turn).rejects.toThrow("The model's answer was cut off");
  await model.close();
});
