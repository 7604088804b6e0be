// For src/http/, src/service.ts
import { describe, expect, test } from "vitest";
import { ORIGIN, TRANSPORT_KEY, startService } from "../service.ts";
import type { Got } from "../service.ts";

interface Front {
  agent: Awaited<ReturnType<typeof startService>>["agent"];
  say: (text: string) => Promise<Got>;
  stop: (body: object | string) => Promise<Got>;
}

async function server(): Promise<Front> {
  const { agent, post } = await startService();
  const of = { threadId: "t", userId: "u" };
  const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
  return {
    agent,
    say: (text) => post("/v1/messages", { ...of, text }, { headers }),
    stop: (body) => post("/v1/messages/cancel", { ...of, ...(body as object) }, { headers }),
  };
}

async function page(path: (id: string) => string): Promise<Front> {
  const { agent, post, newToken, newThread } = await startService();
  const token = await newToken();
  const threadId = await newThread(token);
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  return {
    agent,
    say: (text) => post("/v1/widget/messages", { threadId, text }, { headers }),
    stop: (body) => post(path(threadId), body, { headers }),
  };
}

const widget = () => page((id) => `/v1/widget/threads/${id}/cancel`);
const aiSdk = () => page((id) => `/v1/widget/ai-sdk/chat/${id}/stop`);

describe.each([
  ["the server API", server],
  ["the widget API", widget],
  ["the AI SDK's route", aiSdk],
])("F6: a stop on %s", (_name, open) => {
  test("that names a run ends that run, and no later one", async () => {
    const { agent, say, stop } = await open();
    const first = await say("One");
    (await agent.turn()).finish();
    await first.text();
    const second = await say("Two");
    const turn = await agent.turn();
    const runId = first.headers["x-run-id"] ?? "";
    expect((await stop({ runId })).status).toBe(204);
    expect(turn.signal.aborted).toBe(false);
    expect((await stop({ runId: "none" })).status).toBe(204);
    expect(turn.signal.aborted).toBe(false);
    expect((await stop({ runId: second.headers["x-run-id"] ?? "" })).status).toBe(204);
    expect((await second.lines()).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
  });

  test("that names none ends whichever is active", async () => {
    const { agent, say, stop } = await open();
    const reply = await say("One");
    await agent.turn();
    expect((await stop({})).status).toBe(204);
    expect((await reply.lines()).at(-1)).toMatchObject({ type: "error", code: "cancelled" });
  });

  test.each([{ runId: 1 }, { runId: "" }])("with %j is 422 and ends nothing", async (body) => {
    const { agent, say, stop } = await open();
    await say("One");
    const turn = await agent.turn();
    expect((await stop(body)).status).toBe(422);
    expect(turn.signal.aborted).toBe(false);
    turn.finish();
  });
});

test.each(["", "{}"])("F6: a page may stop with the body %j", async (body) => {
  const { agent, say, stop } = await widget();
  const reply = await say("One");
  await agent.turn();
  expect((await stop(body)).status).toBe(204);
  expect((await reply.lines()).at(-1)).toMatchObject({ code: "cancelled" });
});
