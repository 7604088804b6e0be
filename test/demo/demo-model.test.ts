import { expect, onTestFinished, test } from "vitest";
import type { Model } from "../../src/model.ts";
import { startDemoModel } from "../../src/demo/model/demo-model.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import { startTurn } from "../support/open-model.ts";

async function openDemo(): Promise<Model> {
  const demo = await startDemoModel();
  const model = openOpenAi({ apiKey: null, baseUrl: demo.baseUrl, silenceMs: 30_000, kind: "demo" });
  onTestFinished(async () => {
    await model.close();
    await demo.close();
  });
  return model;
}

test("the demo model streams its answer word by word, with usage, to the same client as a real one", async () => {
  const model = await openDemo();
  expect(model.kind).toBe("demo");
  const { turn, written } = startTurn(model);
  const { text, usage, calls } = await turn;
  expect(text).toContain("demo model");
  expect(written.length).toBeGreaterThan(3);
  expect(written.join("")).toBe(text);
  expect(calls).toEqual([]);
  expect(usage?.input).toBeGreaterThan(0);
  expect(usage?.output).toBeGreaterThan(0);
});

test("the demo model calls a tool, and answers from its result", async () => {
  const model = await openDemo();
  const request = {
    tools: [{ name: "clock", description: "Tells the time", parameters: { type: "object", properties: {} } }],
    messages: [{ role: "user" as const, content: "What time is it?" }],
  };
  const { calls, text } = await startTurn(model, { request }).turn;
  expect(text).toBe("");
  expect(calls).toEqual([{ callId: expect.stringMatching(/^call_/), name: "clock", arguments: "{}" }]);
  const next = {
    ...request,
    messages: [
      ...request.messages,
      { role: "assistant" as const, content: "", calls },
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
