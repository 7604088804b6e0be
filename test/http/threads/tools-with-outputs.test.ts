// For src/agent/tools/, src/http/widget-api/
import { describe, expect, test, vi } from "vitest";
import { pageCall } from "../../threads/scripted-agent.ts";
import { ORIGIN, startService } from "../service.ts";

/** The front ends' clients send the page's tools along with a tool's output. */
interface FrontEnd {
  path: string;
  said: (threadId: string, id: string, tools?: readonly string[]) => object;
  output: (threadId: string, callId: string, tools?: readonly string[]) => object;
}

const agUi: FrontEnd = {
  path: "/v1/widget/ag-ui",
  said: (threadId, id, tools = ["cart"]) => ({
    threadId,
    runId: "r",
    messages: [{ id, role: "user", content: id }],
    tools: tools.map((name) => ({ name })),
  }),
  output: (threadId, toolCallId, tools = ["cart"]) => ({
    threadId,
    runId: "r",
    messages: [{ id: "t", role: "tool", toolCallId, content: "Done" }],
    tools: tools.map((name) => ({ name })),
  }),
};

const toolsByName = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));
const aiSdk: FrontEnd = {
  path: "/v1/widget/ai-sdk/chat",
  said: (id, text, tools = ["cart"]) => ({
    id,
    messages: [{ id: text, role: "user", parts: [{ type: "text", text }] }],
    tools: toolsByName(tools),
  }),
  output: (id, toolCallId, tools = ["cart"]) => ({
    id,
    messages: [
      {
        id: "run",
        role: "assistant",
        parts: [{ type: "tool-cart", toolCallId, state: "output-available", output: "Done" }],
      },
    ],
    tools: toolsByName(tools),
  }),
};

async function enter({ path, said, output }: FrontEnd, env: Record<string, string> = {}) {
  const service = await startService(env);
  const token = await service.newToken();
  const id = await service.newThread(token);
  const headers = { "x-visitor-token": token };
  const ask = (body: object) => service.post(path, body, { headers });
  const namesOf = async () => ((await service.store.load(id, 1_000))?.catalog ?? []).map(({ name }) => name);
  const first = await ask(said(id, "Fill my cart"));
  const turn = await service.agent.turn();
  turn.call(pageCall("call-1"));
  await first.text();
  return {
    ...service,
    say: (text: string, tools?: readonly string[]) => ask(said(id, text, tools)),
    answer: (callId: string, tools?: readonly string[]) => ask(output(id, callId, tools)),
    cancel: () => service.post(`/v1/widget/threads/${id}/cancel`, "", { headers }),
    namesOf,
  };
}

describe.each([
  ["AG-UI", agUi],
  ["the AI SDK", aiSdk],
])("G6: tools that come with an output, from %s", (_name, frontEnd) => {
  test("replace the thread's only if the output is the pending call's", async () => {
    const at = await enter(frontEnd);
    expect((await at.answer("call-2", ["other"])).status).toBe(409);
    expect(await at.namesOf()).toEqual(["cart"]);
    const going = await at.answer("call-1", ["cart", "other"]);
    const { turn } = await at.agent.turn();
    expect(turn.catalog.map(({ name }) => name)).toEqual(["cart", "other"]);
    expect(await at.namesOf()).toEqual(["cart", "other"]);
    expect(going.status).toBe(200);
  });

  test("change nothing after the run was stopped", async () => {
    const at = await enter(frontEnd);
    await at.cancel();
    expect((await at.answer("call-1", ["other"])).status).toBe(409);
    expect(await at.namesOf()).toEqual(["cart"]);
  });

  test("count as a message if they are new, and are not written if they are not", async () => {
    const at = await enter(frontEnd, { WIDGET_MESSAGES_PER_MINUTE: "2" });
    const writes = vi.spyOn(at.store, "setCatalog");
    for (let nth = 1; nth <= 3; nth++) {
      const going = await at.answer(`call-${nth}`);
      (await at.agent.turn()).call(pageCall(`call-${nth + 1}`));
      expect(going.status).toBe(200);
      await going.text();
    }
    expect(writes).not.toHaveBeenCalled();
    const going = await at.answer("call-4", ["cart", "b"]);
    (await at.agent.turn()).call(pageCall("call-5"));
    await going.text();
    expect((await at.answer("call-5", ["cart", "c"])).status).toBe(429);
    expect(await at.namesOf()).toEqual(["cart", "b"]);
    expect((await at.answer("call-5", ["cart", "b"])).status).toBe(200);
  });
});

test.each([
  ["AG-UI", agUi],
  ["the AI SDK", aiSdk],
  ["the widget API", null],
])("G6: tool results have a window by address: %s", async (_name, frontEnd) => {
  const { newToken, newThread, post } = await startService({ WIDGET_IP_TOOL_RESULTS_PER_MINUTE: "2" });
  const statuses: number[] = [];
  for (let nth = 0; nth < 3; nth++) {
    const token = await newToken({ headers: { origin: ORIGIN, "x-publishable-key": "pk_shop" } });
    const threadId = await newThread(token);
    const body = frontEnd?.output(threadId, "call-1") ?? {
      threadId,
      callId: "call-1",
      tool: "cart",
      result: 1,
    };
    const path = frontEnd?.path ?? "/v1/widget/tool-results";
    statuses.push((await post(path, body, { headers: { "x-visitor-token": token } })).status);
  }
  expect(statuses).toEqual([409, 409, 429]);
});
